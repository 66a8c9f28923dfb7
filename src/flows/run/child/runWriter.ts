import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ExecCall, ExecPlace, Recording } from '../../../agents/records/recording.ts';
import type { ModelExchange } from '../../../agents/run/runHost.ts';
import type { Checkpoint, RecordedStep } from '../../../agents/records/recordSchemas.ts';
import { messageOf } from '../../../core/errors.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import { runFolder } from '../history/runFolder.ts';

const MB = 1 << 20;
const MAX_FILE = 32 * MB;
// Half of the limit: when it is full, the older half is dropped.
const MAX_CHECKPOINTS = 16 * MB;
const CHECKPOINT_PART = 0.1;
const FREE_MS = 200;
const FLUSH_CHARACTERS = 64 * 1024;

/** Writes the files of a run while it runs. */
export class RunWriter {
  readonly #trace: LineFile;
  readonly #recording: LineFile;
  readonly #checkpoints: LineFile;
  readonly #calls: LineFile;
  readonly #waiting: string;
  readonly #timeShare = new TimeShare(CHECKPOINT_PART);
  readonly #hasher: Recording;
  readonly #note: (message: string) => void;
  #dropped = 0;
  readonly #noted = new Set<string>();

  /** @param hasher any recording, which creates the entries. */
  constructor(path: string, hasher: Recording, note: (message: string) => void) {
    const folder = runFolder(path);
    this.#waiting = folder.waiting;
    this.#trace = new LineFile(folder.trace, { maxCharacters: MAX_FILE });
    this.#recording = new LineFile(folder.recording, { maxCharacters: MAX_FILE });
    this.#calls = new LineFile(folder.calls, { maxCharacters: MAX_FILE });
    this.#checkpoints = new LineFile(folder.checkpoints, {
      maxCharacters: MAX_CHECKPOINTS,
      olderPath: folder.olderCheckpoints,
    });
    this.#hasher = hasher;
    this.#note = note;
  }

  event(event: RunEvent): void {
    if (event.type === 'run-end') {
      const dropped = this.#dropped;
      this.#trace.push({ ...event, ...(dropped > 0 && { dropped }) }, { isLast: true });
      return;
    }
    if (this.#trace.push(event)) return;
    this.#dropped += 1;
    this.#noteOnce('trace', 'The trace is full: further steps are shown but not recorded.');
  }

  result(call: ExecCall, result: unknown): void {
    try {
      if (this.#recording.push(this.#hasher.entryOf(call, result))) return;
      this.#noteOnce('recording', 'The recording is full: a replay will run the further steps again.');
    } catch (error) {
      this.#noteOnce(call.path, `A replay will run ${call.path} again: ${messageOf(error)}`);
    }
  }

  /** Written immediately, because the process can be killed while a tool runs. */
  step(place: ExecPlace, step: RecordedStep): void {
    if (!this.#recording.push({ ...place, step }))
      this.#noteOnce('recording', 'The recording is full: a replay will run the further steps again.');
    this.#recording.flush();
  }

  checkpoint(run: number, make: () => Checkpoint): void {
    if (!this.#timeShare.hasRoom) return;
    try {
      this.#timeShare.spend(() => this.#checkpoints.push({ run, checkpoint: make() }));
    } catch (error) {
      this.#noteOnce('checkpoint', `The run cannot be resumed from its steps: ${messageOf(error)}`);
    }
  }

  /** Written immediately: the run ends here. */
  waiting(checkpoint: Checkpoint): void {
    try {
      writeFileSync(this.#waiting, `${JSON.stringify(checkpoint)}\n`, { mode: 0o600 });
    } catch (error) {
      this.#noteOnce('waiting', `The run cannot be answered later: ${messageOf(error)}`);
    }
  }

  call(run: number, exchange: ModelExchange): void {
    this.#calls.push({ run, ...exchange });
  }

  flush(): void {
    for (const file of [this.#trace, this.#recording, this.#checkpoints, this.#calls]) file.flush();
  }

  #noteOnce(key: string, message: string): void {
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    this.#note(message);
  }
}

/** Limits the work for observers to a fraction of a run's time: work over the limit is skipped for a while. */
export class TimeShare {
  readonly #part: number;
  readonly #startedAt = performance.now();
  #spentMs = 0;

  /** @param part the part of the time from now on, in addition to the first 200 ms. */
  constructor(part: number) {
    this.#part = part;
  }

  get hasRoom(): boolean {
    return this.#spentMs < FREE_MS + (performance.now() - this.#startedAt) * this.#part;
  }

  spend<T>(work: () => T): T {
    const startedAt = performance.now();
    try {
      return work();
    } finally {
      this.#spentMs += performance.now() - startedAt;
    }
  }
}

/**
 * Appends JSON lines to a file, collected over a turn of the event loop. Writing is synchronous, so that nothing is lost if the
 * flow exits the process; a full disk stops the writing but not the flow.
 */
class LineFile {
  readonly #path: string;
  readonly #maxCharacters: number;
  readonly #olderPath: string | undefined;
  #lines = '';
  #written = 0;
  #isScheduled = false;
  #isClosed = false;

  /** @param olderPath where a full file is moved; without it, further lines are dropped. */
  constructor(path: string, options: { readonly maxCharacters: number; readonly olderPath?: string }) {
    this.#path = path;
    this.#maxCharacters = options.maxCharacters;
    this.#olderPath = options.olderPath;
  }

  /** Returns false if the line was dropped. `isLast` writes it even if the file is full. */
  push(value: unknown, { isLast = false } = {}): boolean {
    if (this.#isClosed) return false;
    const line = `${JSON.stringify(value)}\n`;
    if (this.#written + line.length > this.#maxCharacters && !isLast && !this.#makeRoom(line.length)) return false;
    this.#lines += line;
    this.#written += line.length;
    if (this.#lines.length > FLUSH_CHARACTERS) this.flush();
    if (this.#isScheduled) return true;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.flush();
    });
    return true;
  }

  flush(): void {
    if (this.#lines === '' || this.#isClosed) return;
    const lines = this.#lines;
    this.#lines = '';
    try {
      appendFileSync(this.#path, lines, { mode: 0o600 });
    } catch {
      this.#isClosed = true;
    }
  }

  #makeRoom(length: number): boolean {
    if (this.#olderPath === undefined || length > this.#maxCharacters) return false;
    this.flush();
    try {
      renameSync(this.#path, this.#olderPath);
    } catch {
      return false;
    }
    this.#written = 0;
    return true;
  }
}
