import { formatBytes, formatCredits, formatDuration } from '../../core/text/format.ts';
import type { SubmitPhase } from '../../jobs/send/send.ts';
import { isUnpriced } from '../../jobs/ledger/record.ts';
import { highestCost } from '../../jobs/sweeps/sweep.ts';
import { Progress } from '../terminal/progressLine.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { jobArgument } from '../command/jobArgument.ts';

/** Shows the progress of a submit: a bar for packing, a bar for the upload, and a line when each is done. */
export class SendingReport {
  readonly #terminal: Terminal;
  #current:
    | { readonly type: 'pack' | 'upload'; readonly progress: Progress; readonly firstBytes: number; totalBytes: number }
    | undefined;
  #sentBytes = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Bytes of the archive that were sent, counting those that were sent again after a lost connection. */
  get sentBytes(): number {
    return this.#sentBytes;
  }

  readonly show = (phase: SubmitPhase): void => {
    if (phase.type === 'select' || phase.type === 'recorded') return;
    if (phase.type === 'upload') this.#sentBytes = phase.sentBytes;
    if (phase.type === 'ask') {
      this.#current = undefined;
      this.#terminal.phase('the connection to the service was lost; checking what arrived …');
      return;
    }
    if (phase.type === 'whole') {
      this.#current = undefined;
      this.#terminal.note(phase.reason);
      return;
    }
    if (phase.type === 'accepted') {
      this.#finish();
      this.#reportAccepted(phase);
      return;
    }
    if (this.#current?.type !== phase.type) {
      this.#finish();
      const progress = new Progress(this.#terminal, phase.type === 'pack' ? 'packing' : 'uploading');
      this.#current = { type: phase.type, progress, firstBytes: phase.doneBytes, totalBytes: phase.totalBytes };
    }
    this.#current.totalBytes = phase.totalBytes;
    const isAllSent = phase.type === 'upload' && phase.doneBytes >= phase.totalBytes;
    if (isAllSent) this.#terminal.status('uploaded; the service is checking it …');
    else this.#current.progress.update(phase.doneBytes, phase.totalBytes);
  };

  #finish(): void {
    if (this.#current === undefined) return;
    const { type, progress, firstBytes, totalBytes } = this.#current;
    this.#current = undefined;
    const time = formatDuration(progress.seconds);
    if (type === 'pack') {
      this.#terminal.phase(`packed ${formatBytes(totalBytes)} in ${time}`);
      return;
    }
    const sent = formatBytes(this.#sentBytes);
    // Progress before the first report was not sent now. Contents also take fewer bytes than the archive.
    const isPart = firstBytes > 0 && this.#sentBytes < totalBytes;
    const amount = isPart ? `${sent} of ${formatBytes(totalBytes)}, because the service had the rest,` : sent;
    this.#terminal.phase(`uploaded ${amount} in ${time}`);
  }

  #reportAccepted({ record, creditsRemaining }: Extract<SubmitPhase, { type: 'accepted' }>): void {
    const money = isUnpriced(record)
      ? []
      : [
          record.creditHold === null ? [] : `${formatCredits(record.creditHold)} credits held`,
          creditsRemaining === null ? [] : `${formatCredits(creditsRemaining)} left`,
        ].flat();
    this.#terminal.phase([`accepted as job ${record.jobId}`, ...money].join(', '));
    const [held, shown] = [record.creditHold ?? 0, highestCost(record) ?? Infinity];
    // A service rounds up to its smallest unit, which nobody sees.
    if (held > shown && formatCredits(held) !== formatCredits(shown))
      this.#terminal.note(
        `The service holds ${formatCredits(held)} credits for this job, more than the ${formatCredits(shown)} that were shown. ` +
          `Its prices may have changed. Stop the job:  farwharf cancel ${jobArgument(record.jobId ?? '')}`,
      );
  }
}
