import { StringDecoder } from 'node:string_decoder';
import { formatBytes } from '../../../core/text/format.ts';
import { MarkedLineReader, type OutputPiece } from '../../../core/text/markedLines.ts';
import { MAX_OUTPUT_FRAME_BYTES } from '../../../core/text/outputLimits.ts';
import type { RedactedStream, SecretRedactor } from '../../../core/text/secretRedactor.ts';
import type { UsageEventData } from '../../../remote/protocol/schemas.ts';
import type { FlowFrame, FreezeFrame, LogFrame, UsageFrame } from '../../jobFiles/jobFolder.ts';
import { LogFile } from './logFile.ts';

type StreamName = LogFrame['stream'];

// The most that one read of a pipe returns. If a read returns this much, more output is on its way.
const READ_BYTES = 64 * 1024;
const HOLD_MS = 100;
// The end of an output shows how the script ended, so it is stored whatever was omitted before it.
const TAIL_BYTES = 256 * 1024;
const RECENT_CHARACTERS = 4_096;

/**
 * Appends output to the job's log: a JSON line for each piece, in the order of arrival, without splitting characters. Events that
 * a flow reports in marked lines become separate pieces.
 *
 * Up to `maxBytes` of lines are stored, so that no job fills the disk, and in addition the last 256 KB. A line that a crash cut off
 * has no line feed, so a reader never reads half a piece.
 */
export class OutputLog {
  readonly #file: LogFile;
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #readers = { stdout: new MarkedLineReader(), stderr: new MarkedLineReader() };
  /** Starts of lines whose ends were not read yet. */
  readonly #held = { stdout: '', stderr: '' };
  readonly #timers: { stdout?: NodeJS.Timeout; stderr?: NodeJS.Timeout } = {};
  readonly #maxBytes: number;
  readonly #redactor: SecretRedactor | undefined;
  /** Without the values of secrets, also where the program printed one in pieces. */
  readonly #clean: Readonly<Record<StreamName, RedactedStream>> | undefined;
  readonly #tail = new OutputTail(TAIL_BYTES);
  #recent = '';
  #room: number;
  #isOver = false;

  /** @param redactor removes the values of the job's secrets; undefined without secrets. */
  constructor(path: string, maxBytes: number, redactor?: SecretRedactor) {
    this.#file = new LogFile(path, markOf);
    this.#maxBytes = maxBytes;
    this.#room = maxBytes;
    this.#redactor = redactor;
    this.#clean = redactor && { stdout: redactor.stream(), stderr: redactor.stream() };
  }

  /** A line that was cut by the end of a read is stored as one piece, so that none of the other stream comes in between. */
  append(stream: StreamName, bytes: Buffer): void {
    clearTimeout(this.#timers[stream]);
    const text = this.#held[stream] + this.#decoders[stream].write(bytes);
    const end = bytes.length < READ_BYTES ? text.length : text.lastIndexOf('\n') + 1 || text.length;
    this.#held[stream] = text.slice(end);
    this.#writePieces(stream, this.#readers[stream].push(text.slice(0, end)));
    if (this.#held[stream] !== '') this.#timers[stream] = setTimeout(() => this.#release(stream), HOLD_MS);
  }

  /** A line of the runner itself, which is always stored. */
  note(sentence: string): void {
    this.#file.append(
      lineOf({ stream: 'stderr', text: `farwharf: ${this.#redactor?.redact(sentence) ?? sentence}\n` }),
    );
  }

  /** The end of what was printed since the last call, for the message of a program that failed. */
  takeRecent(): string {
    for (const stream of ['stdout', 'stderr'] as const) this.#release(stream);
    const text = this.#recent;
    this.#recent = '';
    return text;
  }

  /** What the job uses. The few such frames are stored whatever the job prints. */
  usage(usage: UsageEventData): void {
    this.#file.append(lineOf({ usage }));
  }

  /** Whether the job is frozen. Stored as usage is. */
  freeze(freeze: FreezeFrame['freeze']): void {
    this.#file.append(lineOf({ freeze: redacted(freeze, this.#redactor) }));
  }

  /** Stores the end of the output, also if the disk has room for it only some seconds later. */
  async closeWhenStored(signal: AbortSignal): Promise<void> {
    this.#end();
    await this.#file.untilStored(signal);
    this.#file.close();
  }

  close(): void {
    this.#end();
    this.#file.close();
  }

  #end(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#release(stream);
      this.#writePieces(stream, this.#readers[stream].push(this.#decoders[stream].end()));
      this.#writePieces(stream, this.#readers[stream].end());
      const rest = this.#clean?.[stream].end() ?? '';
      if (rest !== '') this.#keep(lineOf({ stream, text: rest }));
    }
    if (!this.#tail.isEmpty) {
      this.#mark(`${formatBytes(this.#tail.droppedBytes)} of output were omitted; this is the end of it`);
      this.#file.append(this.#tail.text());
    }
  }

  /** Stores what was held, because the program may wait for an answer to it. */
  #release(stream: StreamName): void {
    clearTimeout(this.#timers[stream]);
    const text = this.#held[stream];
    this.#held[stream] = '';
    if (text !== '') this.#writePieces(stream, this.#readers[stream].push(text));
  }

  #writePieces(stream: StreamName, pieces: readonly OutputPiece[]): void {
    for (const piece of pieces) {
      const frame = this.#frameOf(stream, piece);
      if (frame === undefined) continue;
      const line = lineOf(frame);
      // Serializing can make numbers longer, so a value may exceed what a reader accepts.
      if (line.length <= MAX_OUTPUT_FRAME_BYTES) this.#keep(line);
    }
  }

  /** Undefined while all of the piece may be the beginning of a secret. */
  #frameOf(stream: StreamName, piece: OutputPiece): LogFrame | FlowFrame | undefined {
    if (piece.type === 'value') return { flow: this.#redactor?.redactValue(piece.value) ?? piece.value };
    const text = this.#clean?.[stream].push(piece.text) ?? piece.text;
    this.#recent = (this.#recent + text.slice(-RECENT_CHARACTERS)).slice(-RECENT_CHARACTERS);
    return text === '' ? undefined : { stream, text };
  }

  #keep(line: Buffer): void {
    if (!this.#isOver && line.length <= this.#room) {
      if (this.#file.append(line)) this.#room -= line.length;
      return;
    }
    if (!this.#isOver) this.#mark(`output after ${formatBytes(this.#maxBytes)} is not stored`);
    this.#isOver = true;
    this.#tail.push(line);
  }

  #mark(text: string): void {
    this.#file.append(markOf(text));
  }
}

function markOf(text: string): Buffer {
  return lineOf({ stream: 'stderr', text: `\n[${text}]\n` });
}

function redacted({ at, frozen }: FreezeFrame['freeze'], redactor: SecretRedactor | undefined): FreezeFrame['freeze'] {
  if (frozen === null || redactor === undefined) return { at, frozen };
  const clean = (text: string): string => redactor.redact(text);
  const { file, error, message } = frozen;
  return { at, frozen: { ...frozen, file: clean(file), error: clean(error), message: clean(message) } };
}

function lineOf(frame: LogFrame | FlowFrame | UsageFrame | FreezeFrame): Buffer {
  return Buffer.from(`${JSON.stringify(frame)}\n`);
}

/** The last lines of an output, as many as fit in a limit. */
class OutputTail {
  readonly #maxBytes: number;
  #lines: Buffer[] = [];
  #first = 0;
  #bytes = 0;
  #droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#lines.length === this.#first;
  }

  /** Bytes of lines that no longer fit. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  push(line: Buffer): void {
    this.#lines.push(line);
    this.#bytes += line.length;
    while (this.#bytes > this.#maxBytes) {
      const length = this.#lines[this.#first]?.length ?? 0;
      this.#first += 1;
      this.#bytes -= length;
      this.#droppedBytes += length;
    }
    // Dropped lines are removed in large steps, because removing one from the front moves all others.
    if (this.#first > this.#lines.length / 2) {
      this.#lines = this.#lines.slice(this.#first);
      this.#first = 0;
    }
  }

  /** The remaining lines, in order. */
  text(): Buffer {
    return Buffer.concat(this.#lines.slice(this.#first));
  }
}
