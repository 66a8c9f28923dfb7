import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The names of data sets beside their flow files: `research.cases.jsonl`, `research.harbours.cases.csv`. */
export const CASES_PATTERN = '*.cases.{jsonl,csv}';
const SUFFIX = /\.cases\.(?:jsonl|csv)$/i;
const EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];

/** The flow file beside a data set, by its name; undefined if there is none. */
export async function evaluatedFile(data: string): Promise<string | undefined> {
  if (!SUFFIX.test(data)) return undefined;
  let stem = basename(data).replace(SUFFIX, '');
  for (;;) {
    for (const extension of EXTENSIONS) {
      const file = join(dirname(data), stem + extension);
      const found = await stat(file).catch((): undefined => undefined);
      if (found?.isFile() === true) return file;
    }
    const dot = stem.lastIndexOf('.');
    if (dot <= 0) return undefined;
    stem = stem.slice(0, dot);
  }
}
