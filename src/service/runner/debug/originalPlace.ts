import { readFile, stat } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, resolve } from 'node:path';
import { parseOwnJson } from '../../../core/jsonFields.ts';
import { pathOf } from './stackFrames.ts';

const MAX_BYTES = 32 * 2 ** 20;

/**
 * Where something was written that was translated to JavaScript with a source map.
 *
 * @param file the path of the script that runs.
 * @param sourceMapUrl as its last line names it; empty for none.
 * @param place 0-based.
 * @returns the path and the 1-based line; undefined if no map has the place.
 */
export async function originalPlace(
  file: string,
  sourceMapUrl: string,
  place: { readonly lineNumber: number; readonly columnNumber: number },
): Promise<{ readonly file: string; readonly line: number } | undefined> {
  if (sourceMapUrl === '') return undefined;
  try {
    // The job's own, for its own process.
    const map = new SourceMap(parseOwnJson<SourceMapPayload>(await readMap(file, sourceMapUrl)));
    const entry = map.findEntry(place.lineNumber, place.columnNumber);
    if (!('originalSource' in entry)) return undefined;
    return { file: resolve(dirname(file), pathOf(entry.originalSource)), line: entry.originalLine + 1 };
  } catch {
    return undefined; // the map is missing or damaged
  }
}

async function readMap(file: string, url: string): Promise<string> {
  const [, type, data] = /^data:([^,]*),(.*)$/s.exec(url) ?? [];
  if (data !== undefined) {
    if (data.length > MAX_BYTES) return '';
    return type?.endsWith(';base64') === true ? Buffer.from(data, 'base64').toString() : decodeURIComponent(data);
  }
  const path = resolve(dirname(file), pathOf(url));
  return (await stat(path)).size > MAX_BYTES ? '' : readFile(path, 'utf8');
}
