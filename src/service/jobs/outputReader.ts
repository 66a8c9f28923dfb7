import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import * as z from 'zod';
import { isTooDeep, MAX_FRAME_BYTES } from '../../core/text/outputLimits.ts';
import { flowEventData, logEventData } from '../../remote/protocol/schemas.ts';
import { changedByJob, JOB_FILE, openJobFile } from '../jobFiles/jobFileReading.ts';
import type { ServiceEvent } from '../store/jobs/events.ts';

const READ_BYTES = MAX_FRAME_BYTES;
// A runner writes none. Each costs a thrown error, and a job that is not isolated can fill its log with them.
const MAX_FOREIGN_LINES = 1_000;
const MAX_TEXT_LENGTH = 64 * 1024;
const LINE_FEED = 0x0a;

/** What a job's process did: printed text, or told of its flow. */
type OutputEvent = Extract<ServiceEvent, { type: 'log' | 'flow' }>;

const flowFrame = z.object({ flow: flowEventData });

export interface OutputPage {
  readonly events: readonly OutputEvent[];
  /** Where the next page begins. */
  readonly offset: number;
  /** Whether there was no more at the time. */
  readonly isAll: boolean;
}

/**
 * The whole lines of a runner's output log after `offset`, up to about 1 MB; undefined while there are none.
 *
 * @throws AppError `corrupt` where something else is in the log's place, or much that no runner wrote is in it.
 * @param isLocal whether the file is written on this machine: then its size is true, and reading what was just written takes
 * less time than asking for it to be read. A file on a network is opened to learn what is in it.
 */
export async function readOutput(path: string, offset: number, isLocal: boolean): Promise<OutputPage | undefined> {
  const bytes = isLocal ? readLocalBytes(path, offset) : await readBytes(path, offset);
  const isAll = bytes.length < READ_BYTES;
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  if (end === 0) {
    // No runner writes such a line, so the job wrote it itself; it is passed over.
    return isAll ? undefined : { events: [], offset: offset + bytes.length, isAll };
  }
  const lines = bytes.toString('utf8', 0, end - 1).split('\n');
  const events: OutputEvent[] = [];
  let foreignLines = 0;
  for (const line of lines) {
    const event = parseFrame(line);
    if (event !== undefined) events.push(event);
    else if (++foreignLines > MAX_FOREIGN_LINES) throw changedByJob(path);
  }
  return { events: joinNeighbours(events), offset: offset + end, isAll };
}

/** The event in a line; undefined for one that no runner wrote. */
function parseFrame(line: string): OutputEvent | undefined {
  try {
    const isFlow = line.startsWith('{"flow"');
    if (isFlow && isTooDeep(line)) return undefined;
    const frame: unknown = JSON.parse(line);
    if (isFlow) return { type: 'flow', data: flowFrame.parse(frame).flow };
    const { stream, text } = logEventData.parse(frame);
    return { type: 'log', data: { stream, text } };
  } catch {
    return undefined;
  }
}

function joinNeighbours(events: readonly OutputEvent[]): readonly OutputEvent[] {
  const joined: OutputEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const isMore = event.type === 'log' && last?.type === 'log' && last.data.stream === event.data.stream;
    if (isMore && last.data.text.length + event.data.text.length <= MAX_TEXT_LENGTH) {
      const { stream, text } = last.data;
      joined[joined.length - 1] = { type: 'log', data: { stream, text: text + event.data.text } };
    } else {
      joined.push(event);
    }
  }
  return joined;
}

function readLocalBytes(path: string, offset: number): Buffer {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === false) throw changedByJob(path);
  const size = stats?.size ?? 0;
  if (size <= offset) return Buffer.alloc(0);
  const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - offset));
  const file = openSync(path, JOB_FILE);
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, offset));
  } finally {
    closeSync(file);
  }
}

async function readBytes(path: string, offset: number): Promise<Buffer> {
  await using file = await openJobFile(path);
  // Most looks find nothing new, and many jobs are looked at many times a second: memory is taken only for what is there.
  const length = Math.min(READ_BYTES, ((await file?.stat())?.size ?? 0) - offset);
  if (file === undefined || length <= 0) return Buffer.alloc(0);
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
