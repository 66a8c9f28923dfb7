import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { WindowParts } from '../../contributions/parts.ts';
import { shownScript } from '../../../jobs/selection/script.ts';
import { isAbort } from '../../../core/errors.ts';
import { Emitter } from '../../../core/processes/lifetime.ts';
import { repeat } from '../../../core/processes/repeat.ts';
import { printableLine, printableText } from '../../../core/text/printable.ts';
import { describeResultCount } from '../../../jobs/report/describeJob.ts';
import { isInLog } from '../../../jobs/log/logText.ts';
import type { ColouredLines } from '../../../jobs/log/colouredLines.ts';
import { MARK, ViewText } from '../../../jobs/log/viewText.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { type LocalAddress, PrintedAddresses } from '../../../jobs/ports/localAddresses.ts';
import type { ResultCounter } from '../../../jobs/log/resultCounter.ts';
import { EventSpool } from '../../../jobs/log/spool.ts';
import { LogTail } from './logTail.ts';
import { hostLabel } from '../../ui/words.ts';
import type { WatchedJobs } from '../store/watchedJobs.ts';
import { createTextChannel, type TextChannel } from '../../ui/show.ts';

// At most 20 updates per second: each crosses to the window and lays out its editor again.
const BATCH_MS = 50;
// A progress bar redraws one line many times. It is shown once a second, or, below a long text, when it pauses.
const MOVE_MS = 1000;
const PAUSE_MS = 2000;
/** The language of the channel's text, as in package.json. */
export const LOG_LANGUAGE = 'farwharf-log';
/** The label of the link that downloads the results, at the end of a log and in notifications. */
export const DOWNLOAD = l10n.t('Download Results');
const SHOWN_KEY = 'shownJob';

interface PrintedAddress extends LocalAddress {
  /** Of the job. */
  readonly id: string;
}

interface JobLogDeps extends Pick<WindowParts, 'home' | 'log'> {
  readonly colouredLines: ColouredLines;
  readonly results: Pick<ResultCounter, 'count'>;
  readonly memory: vscode.Memento;
  readonly watched: Pick<WatchedJobs, 'add'>;
}

/** The output channel with the log of one job at a time. It is read from the spool: complete after a reload, live while the job runs. */
export class JobLog implements vscode.Disposable {
  readonly #deps: JobLogDeps;
  readonly #printed = new Emitter<PrintedAddress>();
  /** Fired for each address of its own machine that the job prints. */
  readonly onDidPrintAddress = this.#printed.event;
  #channel: TextChannel | undefined;
  #reading = new AbortController();
  #shown: JobRecord | undefined;

  constructor(deps: JobLogDeps) {
    this.#deps = deps;
  }

  /** The job whose log the channel shows. */
  get shown(): JobRecord | undefined {
    return this.#shown;
  }

  /** The job whose log was shown when the window was closed or reloaded. */
  get lastShown(): string | undefined {
    return this.#deps.memory.get<string>(SHOWN_KEY);
  }

  /** Shows a job's log in the channel, which becomes visible if `reveal` is set. The focus stays where it is. */
  show(record: JobRecord, { reveal }: { reveal: boolean }): void {
    this.#channel ??= createTextChannel('Farwharf Job', LOG_LANGUAGE);
    if (reveal) this.#channel.show(true);
    if (this.#shown?.id === record.id) return;
    this.#shown = record;
    void this.#deps.memory.update(SHOWN_KEY, record.id);
    this.#deps.watched.add(record.id);
    this.#reading.abort();
    this.#reading = new AbortController();
    void this.#read(record, this.#channel, this.#reading.signal);
  }

  dispose(): void {
    this.#reading.abort();
    this.#printed.dispose();
    this.#channel?.dispose();
  }

  /** The end of the last line, such as `3 new files, 1 changed: Download Results`. */
  async #offerResults({ id }: JobRecord): Promise<string | undefined> {
    const results = await this.#deps.results.count(id);
    const text = describeResultCount({ results });
    return results === null || results.files === 0 ? text : `${text}: ${DOWNLOAD}`;
  }

  async #read(record: JobRecord, channel: TextChannel, signal: AbortSignal): Promise<void> {
    const spool = new EventSpool(this.#deps.home, record.id);
    const text = new ViewText(record.machineClass === null ? {} : { machine: record.machineClass });
    const tail = new LogTail(
      `${MARK}${l10n.t('{0} on {1}', printableLine(shownScript(record.script)), hostLabel(record.host))}\n`,
    );
    const colours = this.#deps.colouredLines.reader();
    const addresses = new PrintedAddresses();
    const drawing = new AbortController();
    let lastEvent = Date.now();
    let movedAt = 0;
    const draw = (): void => {
      const now = Date.now();
      if (text.moving === '' || now - movedAt >= MOVE_MS) {
        movedAt = now;
        const canMove = tail.setMoving(text.moving);
        if (!canMove && now - lastEvent > PAUSE_MS) tail.push(text.flush());
      }
      drawOnce(tail, channel);
    };
    const isDrawn = repeat(draw, BATCH_MS, AbortSignal.any([signal, drawing.signal]));
    try {
      for await (const event of spool.follow({ signal })) {
        if (!isInLog(event)) continue;
        lastEvent = Date.now();
        colours.push(event);
        const results = event.event === 'end' ? await this.#offerResults(record) : undefined;
        const added = text.push(event, results);
        tail.push(added);
        for (const address of addresses.push(added)) this.#printed.fire({ id: record.id, ...address });
      }
      tail.push(text.flush());
    } catch (error) {
      if (isAbort(error)) return;
      this.#deps.log.error('a log could not be read', { id: record.id, error });
      tail.push(`${MARK}${l10n.t('The rest of this log cannot be read. See the extension log for the reason.')}\n`);
    } finally {
      drawing.abort();
      await isDrawn;
      tail.setMoving('');
      if (!signal.aborted) drawOnce(tail, channel);
    }
  }
}

function drawOnce(tail: LogTail, channel: TextChannel): void {
  const { type, text } = tail.take();
  if (type === 'replace') channel.replace(printableText(text));
  else if (text !== '') channel.append(printableText(text));
}
