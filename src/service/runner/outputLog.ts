import { appendFileSync, closeSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { LogFrame } from './jobFolder.ts';

type StreamName = LogFrame['stream'];

/**
 * Appends output to the job's log: a JSON line for each piece, in the order of arrival, with whole characters only.
 *
 * A line that was cut by a crash has no line feed, so a reader never takes half a piece.
 */
export class OutputLog {
  readonly #file: number;
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  #room: number;
  #isFull = false;

  constructor(path: string, maxBytes: number) {
    this.#file = openSync(path, 'a', 0o600);
    this.#room = maxBytes;
  }

  append(stream: StreamName, bytes: Buffer): void {
    if (this.#room <= 0) return;
    this.#room -= bytes.length;
    this.#write(stream, this.#decoders[stream].write(bytes));
    if (this.#room <= 0) this.note('The output is too long; the rest of it is not kept.');
  }

  /** A line of the runner itself. */
  note(sentence: string): void {
    this.#write('stderr', `farwharf: ${sentence}\n`);
  }

  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) this.#write(stream, this.#decoders[stream].end());
    closeSync(this.#file);
  }

  #write(stream: StreamName, text: string): void {
    if (text === '' || this.#isFull) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify({ stream, text } satisfies LogFrame)}\n`);
    } catch {
      // The disk is full. What the script does counts for more than what it says, so the job goes on.
      this.#isFull = true;
    }
  }
}
