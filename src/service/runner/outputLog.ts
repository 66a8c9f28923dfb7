import { appendFileSync, closeSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { MarkedLineReader, type OutputPiece } from '../../core/markedLines.ts';
import type { FlowFrame, LogFrame } from './jobFolder.ts';

type StreamName = LogFrame['stream'];

/**
 * Appends output to the job's log: a JSON line for each piece, in the order of arrival, with whole characters only. What a flow
 * tells of its run in marked lines becomes pieces of its own.
 *
 * A line that was cut by a crash has no line feed, so a reader never takes half a piece.
 */
export class OutputLog {
  readonly #file: number;
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #readers = { stdout: new MarkedLineReader(), stderr: new MarkedLineReader() };
  #room: number;
  #isFull = false;

  constructor(path: string, maxBytes: number) {
    this.#file = openSync(path, 'a', 0o600);
    this.#room = maxBytes;
  }

  append(stream: StreamName, bytes: Buffer): void {
    if (this.#room <= 0) return;
    this.#room -= bytes.length;
    this.#writePieces(stream, this.#readers[stream].push(this.#decoders[stream].write(bytes)));
    if (this.#room <= 0) this.note('The output is too long; the rest of it is not kept.');
  }

  /** A line of the runner itself. */
  note(sentence: string): void {
    this.#write({ stream: 'stderr', text: `farwharf: ${sentence}\n` });
  }

  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#writePieces(stream, this.#readers[stream].push(this.#decoders[stream].end()));
      this.#writePieces(stream, this.#readers[stream].end());
    }
    closeSync(this.#file);
  }

  #writePieces(stream: StreamName, pieces: readonly OutputPiece[]): void {
    for (const piece of pieces)
      this.#write(piece.type === 'text' ? { stream, text: piece.text } : { flow: piece.value });
  }

  #write(frame: LogFrame | FlowFrame): void {
    if (this.#isFull) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(frame)}\n`);
    } catch {
      // The disk is full. What the script does counts for more than what it says, so the job goes on.
      this.#isFull = true;
    }
  }
}
