import { posix } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { readEventFile } from './eventFile.ts';
import { MetricTable } from './metricTable.ts';
import type { SeriesData } from './series.ts';

const MOST_FILES = 50;
// About 5 s of a background thread.
const MOST_BYTES = 200_000_000;
const MAX_LINE = 16 * 1024;
const EVENT_FILE = /^events\.out\.tfevents\./;

/** A file among the results of a job. */
interface MetricFile {
  readonly path: string;
  readonly size: number;
}

/** Whether a file has metrics by its name: `metrics.jsonl`, or a TensorBoard event file. */
export function isMetricFile(path: string): boolean {
  const name = posix.basename(path);
  return name === 'metrics.jsonl' || EVENT_FILE.test(name);
}

/**
 * The metrics in the files of a job: at most 50 files and 200 MB. If there are several folders with such files, names begin with the folder,
 * as in TensorBoard.
 *
 * @param read the contents of a file.
 */
export async function readMetricFiles<F extends MetricFile>(
  files: readonly F[],
  read: (file: F) => AsyncIterable<Uint8Array>,
): Promise<ReadonlyMap<string, SeriesData>> {
  const table = new MetricTable();
  let room = MOST_BYTES;
  const metricFiles = files.filter(({ path }) => isMetricFile(path)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const folders = new Set(metricFiles.map(({ path }) => posix.dirname(path)));
  for (const file of metricFiles.slice(0, MOST_FILES)) {
    room -= file.size;
    if (room < 0) break;
    const folder = posix.dirname(file.path);
    const prefix = folders.size > 1 && folder !== '.' ? `${folder}/` : '';
    if (EVENT_FILE.test(posix.basename(file.path))) await readEventFile(read(file), table, prefix);
    else await readLines(read(file), table, prefix);
  }
  return new Map([...table.series].map(([name, series]) => [name, series.data]));
}

/** One JSON object a line. Longer lines are left out. */
async function readLines(chunks: AsyncIterable<Uint8Array>, table: MetricTable, prefix: string): Promise<void> {
  const decoder = new StringDecoder('utf8');
  let open = '';
  for await (const chunk of chunks) {
    const lines = (open + decoder.write(Buffer.from(chunk))).split('\n');
    open = (lines.pop() ?? '').slice(0, MAX_LINE + 1);
    for (const line of lines) if (line.length <= MAX_LINE) table.addObject(line, prefix);
  }
  if (open.length <= MAX_LINE) table.addObject(open, prefix);
}
