import { formatBytes, formatDuration } from '../../core/text/format.ts';
import type { Terminal } from './terminal.ts';

const REDRAW_MS = 100;
const MAX_BAR_CELLS = 24;
const MIN_BAR_CELLS = 8;
/** Reserved for the numbers, which matter more than the bar. A fixed width keeps the bar from flickering. */
const NUMBER_COLUMNS = '  100 %  99.9 MB of 99.9 MB  99.9 MB/s  59 min left'.length;
/** Earlier, the rate and the time left would be too inaccurate. */
const STEADY_MS = 500;

/** The progress of work that is measured in bytes, shown as `uploading ████░░░░ 42 %  12 MB of 30 MB  3.1 MB/s  6 s left`. */
export class Progress {
  readonly #terminal: Terminal;
  readonly #verb: string;
  readonly #now: () => number;
  readonly #started: number;
  #drawn = -Infinity;

  constructor(terminal: Terminal, verb: string, now: () => number = () => performance.now()) {
    this.#terminal = terminal;
    this.#verb = verb;
    this.#now = now;
    this.#started = now();
  }

  update(doneBytes: number, totalBytes: number | undefined): void {
    const now = this.#now();
    if (now - this.#drawn < REDRAW_MS) return;
    this.#drawn = now;
    const { columns } = this.#terminal;
    const elapsedMs = now - this.#started;
    this.#terminal.status(progressText(this.#verb, { doneBytes, totalBytes, elapsedMs, columns }));
  }

  /** Seconds since the work began. */
  get seconds(): number {
    return (this.#now() - this.#started) / 1000;
  }
}

/** The line of a progress bar. Without a total it has neither bar nor time left; in a narrow terminal it has no bar. */
export function progressText(
  verb: string,
  {
    doneBytes,
    totalBytes,
    elapsedMs,
    columns = Infinity,
  }: { doneBytes: number; totalBytes: number | undefined; elapsedMs: number; columns?: number },
): string {
  const isSteady = elapsedMs >= STEADY_MS && doneBytes > 0;
  const bytesPerSecond = (doneBytes / elapsedMs) * 1000;
  const rate = isSteady ? `  ${formatBytes(bytesPerSecond)}/s` : '';
  if (!totalBytes) return `${verb} ${formatBytes(doneBytes)}${rate}`;
  const part = Math.min(1, doneBytes / totalBytes);
  const cells = Math.min(MAX_BAR_CELLS, columns - verb.length - NUMBER_COLUMNS);
  const filled = Math.round(part * cells);
  const bar = cells < MIN_BAR_CELLS ? '' : `${'█'.repeat(filled)}${'░'.repeat(cells - filled)} `;
  const percent = String(Math.floor(part * 100)).padStart(3);
  const left = isSteady && part < 1 ? `  ${formatDuration((totalBytes - doneBytes) / bytesPerSecond)} left` : '';
  return `${verb} ${bar}${percent} %  ${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}${rate}${left}`;
}
