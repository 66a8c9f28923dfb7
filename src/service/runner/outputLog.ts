import { appendFileSync, closeSync, openSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { formatBytes } from '../../core/text/format.ts';
import { MarkedLineReader, type OutputPiece } from '../../core/text/markedLines.ts';
import { MAX_FRAME_BYTES } from '../../core/text/outputLimits.ts';
import type { FlowFrame, LogFrame } from '../jobFiles/jobFolder.ts';
import { OutputTail } from './outputTail.ts';

type StreamName = LogFrame['stream'];

// The end of an output says how it ended, so it is kept whatever was left out before it.
const TAIL_BYTES = 256 * 1024;

/**
 * Appends output to the job's log: a JSON line for each piece, in the order of arrival, with whole characters only. What a flow
 * tells of its run in marked lines becomes pieces of its own.
 *
 * Up to `maxBytes` of lines are kept, so that no job fills the disk, and with them the last 256 KB. A line that was cut by a
 * crash has no line feed, so a reader never takes half a piece.
 */
export class OutputLog {
  readonly #file: number;
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #readers = { stdout: new MarkedLineReader(), stderr: new MarkedLineReader() };
  readonly #maxBytes: number;
  readonly #tail = new OutputTail(TAIL_BYTES);
  #room: number;
  #isOver = false;
  #isDiskFull = false;

  constructor(path: string, maxBytes: number) {
    this.#file = openSync(path, 'a', 0o600);
    this.#maxBytes = maxBytes;
    this.#room = maxBytes;
  }

  append(stream: StreamName, bytes: Buffer): void {
    this.#writePieces(stream, this.#readers[stream].push(this.#decoders[stream].write(bytes)));
  }

  /** A line of the runner itself, which is always kept. */
  note(sentence: string): void {
    this.#write(lineOf({ stream: 'stderr', text: `farwharf: ${sentence}\n` }));
  }

  close(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#writePieces(stream, this.#readers[stream].push(this.#decoders[stream].end()));
      this.#writePieces(stream, this.#readers[stream].end());
    }
    if (!this.#tail.isEmpty) {
      this.#mark(`${formatBytes(this.#tail.droppedBytes)} of output were left out; this is its end`);
      this.#write(this.#tail.text());
    }
    closeSync(this.#file);
  }

  #writePieces(stream: StreamName, pieces: readonly OutputPiece[]): void {
    for (const piece of pieces) {
      const line = lineOf(piece.type === 'text' ? { stream, text: piece.text } : { flow: piece.value });
      // Numbers that JSON writes longer than they were can make a value longer than a reader takes.
      if (line.length <= MAX_FRAME_BYTES) this.#keep(line);
    }
  }

  #keep(line: Buffer): void {
    if (!this.#isOver && line.length <= this.#room) {
      this.#room -= line.length;
      this.#write(line);
      return;
    }
    if (!this.#isOver) this.#mark(`output after ${formatBytes(this.#maxBytes)} is not kept`);
    this.#isOver = true;
    this.#tail.push(line);
  }

  #mark(text: string): void {
    this.#write(lineOf({ stream: 'stderr', text: `\n[${text}]\n` }));
  }

  #write(lines: Buffer): void {
    if (this.#isDiskFull) return;
    try {
      appendFileSync(this.#file, lines);
    } catch {
      // The disk is full. What the script does counts for more than what it says, so the job goes on.
      this.#isDiskFull = true;
    }
  }
}

function lineOf(frame: LogFrame | FlowFrame): Buffer {
  return Buffer.from(`${JSON.stringify(frame)}\n`);
}
