import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDiskFull } from '../../../core/files/diskSpace.ts';
import { formatBytes } from '../../../core/text/format.ts';
import { RUNNER_FILE_MODE } from '../../jobFiles/jobFolder.ts';

const LINE_FEED = 0x0a;
// The end of an output that was too long fits, too.
const MAX_WAITING_BYTES = 2 ** 20;
const RETRY_MS = 1_000;
// The end of a job does not wait longer than this for its log.
const MAX_END_WAIT_MS = 30_000;

/**
 * The file of a job's log, which gets whole lines in their order. Lines that cannot be written, as on a full disk, wait in memory until
 * there is room, up to 1 MB of them. What comes then is missing, and a line in its place says how much.
 */
export class LogFile {
  readonly #file: number;
  readonly #gapLine: (text: string) => Buffer;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #missingBytes = 0;
  #why = '';
  #retry: NodeJS.Timeout | undefined;

  /** @param gapLine makes a line of the log that says the text. */
  constructor(path: string, gapLine: (text: string) => Buffer) {
    this.#file = openSync(path, 'a', RUNNER_FILE_MODE);
    this.#gapLine = gapLine;
  }

  /** Returns false if the lines are missing in the log. */
  append(lines: Buffer): boolean {
    if (this.#waitingBytes + lines.length > MAX_WAITING_BYTES) this.#flush();
    const isStored = this.#waitingBytes === 0 || this.#fits(lines);
    if (!isStored) {
      this.#missingBytes += lines.length;
    } else if (this.#waitingBytes === 0) {
      this.#store(lines);
    } else {
      this.#waiting.push(lines);
      this.#waitingBytes += lines.length;
    }
    return isStored;
  }

  /** Waits for room for the lines that were not written yet, for half a minute at most. */
  async untilStored(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + MAX_END_WAIT_MS;
    while (this.#waitingBytes > 0 && !signal.aborted && performance.now() < deadline) {
      await sleep(RETRY_MS);
      this.#flush();
    }
  }

  close(): void {
    this.#flush();
    clearTimeout(this.#retry);
    if (this.#waitingBytes > 0) {
      // What says so is shorter, so there may be room for it.
      const missing = this.#missingBytes + this.#waitingBytes;
      this.#store(this.#gap(missing));
      clearTimeout(this.#retry);
    }
    closeSync(this.#file);
  }

  #fits(lines: Buffer): boolean {
    return this.#missingBytes === 0 && this.#waitingBytes + lines.length <= MAX_WAITING_BYTES;
  }

  #flush(): void {
    if (this.#waitingBytes > 0) this.#store(Buffer.concat(this.#waiting));
    if (this.#waitingBytes > 0 || this.#missingBytes === 0) return;
    const gap = this.#gap(this.#missingBytes);
    this.#missingBytes = 0;
    this.#store(gap);
  }

  #gap(bytes: number): Buffer {
    return this.#gapLine(`${formatBytes(bytes)} of output are missing, because ${this.#why}`);
  }

  /** Writes as many whole lines as there is room for. The others wait, instead of what has waited. */
  #store(lines: Buffer): void {
    let written = 0;
    try {
      while (written < lines.length) written += writeSync(this.#file, lines, written);
    } catch (error) {
      // The job continues without its log, because its work is more important than its output.
      this.#why = isDiskFull(error) ? 'the disk was full' : 'the log could not be written';
    }
    const stored = written === lines.length ? written : lines.subarray(0, written).lastIndexOf(LINE_FEED) + 1;
    if (stored < written) this.#cut(written - stored);
    this.#waiting = stored < lines.length ? [lines.subarray(stored)] : [];
    this.#waitingBytes = lines.length - stored;
    clearTimeout(this.#retry);
    if (this.#waitingBytes > 0) this.#retry = setTimeout(() => this.#flush(), RETRY_MS);
  }

  /** Removes the start of a line. No reader has used it, because it has no line feed. */
  #cut(bytes: number): void {
    try {
      ftruncateSync(this.#file, fstatSync(this.#file).size - bytes);
    } catch {
      // The file system is away. Readers ignore the line that this start and the next line become.
    }
  }
}
