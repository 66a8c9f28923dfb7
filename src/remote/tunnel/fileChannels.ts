import { fieldOf, numberField, textField, tryParseJson } from '../../core/jsonFields.ts';

/** How many of the files that were left out, or changed meanwhile, an archive names. */
export const MOST_NAMED_FILES = 100;

const TYPES = ['file', 'folder', 'link', 'other'] as const;
const CODES = ['missing', 'refused', 'permission', 'no-space', 'bad-input', 'conflict'] as const;
// UTF-16 units.
const MAX_FILE_PATH = 4_096;
const MAX_TEXT = 1_000;
// Of a date in JavaScript.
const MAX_TIME_MS = 8.64e15;

/**
 * An entry of a job's folder. `link` is one that leads nowhere, or out of the folder; another link is what it leads to. In a name that is
 * not valid UTF-8, each byte above 127 is a lone surrogate, U+DC00 plus the byte.
 */
export interface JobFile {
  /** Relative to the job's folder, with `/`; empty for that folder itself. */
  readonly path: string;
  readonly type: (typeof TYPES)[number];
  /** Bytes; 0 for what is not a file. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  readonly isLink: boolean;
}

/** The files that an archive leaves out, or that changed while it was written: the first of them, and how many. */
interface NamedFiles {
  readonly paths: readonly string[];
  readonly count: number;
}

/** What an archive of a running job's folder has. */
export interface JobArchiveEnd {
  /** Links, special files, and names that are not valid UTF-8. */
  readonly skipped: NamedFiles;
  /** They have as many bytes as they had when they were opened, with zeros in place of those that are gone. */
  readonly changed: NamedFiles;
}

/** The first line of a channel that asks for files. The channel then carries `FileEvent`s, each a line of JSON. */
export type FileHeader =
  /** `entries`, then `end`. With `isDeep`, those of the folders in it too. */
  | { readonly type: 'list'; readonly path: string; readonly isDeep: boolean }
  /** `entries` with one. */
  | { readonly type: 'stat'; readonly path: string }
  /** `entries` with the file; its bytes on the stream; `end`, which says whether the file changed meanwhile. */
  | {
      readonly type: 'read';
      readonly path: string;
      readonly stream: string;
      readonly offset: number;
      /** To the end of the file if absent. */
      readonly length?: number;
    }
  /** A tar stream of the files in a folder, with paths relative to it; `end`. */
  | { readonly type: 'archive'; readonly path: string; readonly stream: string }
  /** Replaces a file with this many bytes of the stream, at once when all have arrived; `entries` with the file. */
  | { readonly type: 'write'; readonly path: string; readonly stream: string; readonly size: number };

export type FileEvent =
  | { readonly type: 'entries'; readonly entries: readonly JobFile[] }
  | { readonly type: 'end'; readonly isChanged: boolean }
  | ({ readonly type: 'end' } & JobArchiveEnd)
  | { readonly type: 'failed'; readonly code: (typeof CODES)[number]; readonly message: string };

/** @returns undefined for what asks for something else, or is not valid. */
export function parseFileHeader(value: unknown): FileHeader | undefined {
  const type = fieldOf(value, 'type');
  const path = fieldOf(value, 'path');
  if (typeof path !== 'string' || !isFilePath(path)) return undefined;
  if (type === 'stat') return { type, path };
  if (type === 'list') return { type, path, isDeep: fieldOf(value, 'isDeep') === true };
  const stream = textField(value, 'stream');
  if (stream === undefined) return undefined;
  if (type === 'archive') return { type, path, stream };
  const [offset, length, size] = ['offset', 'length', 'size'].map((name) => countField(value, name));
  if (type === 'write' && size !== undefined) return { type, path, stream, size };
  if (type !== 'read') return undefined;
  return { type, path, stream, offset: offset ?? 0, ...(length !== undefined && { length }) };
}

/** @returns undefined for anything else. */
export function parseFileEvent(line: string): FileEvent | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'entries') {
    const entries = fieldOf(value, 'entries');
    const parsed = Array.isArray(entries) ? entries.map(parseFile) : [undefined];
    return parsed.every((entry) => entry !== undefined) ? { type, entries: parsed } : undefined;
  }
  if (type === 'failed') {
    const code = CODES.find((each) => each === fieldOf(value, 'code')) ?? 'refused';
    return { type, code, message: (textField(value, 'message') ?? 'unknown reason').slice(0, MAX_TEXT) };
  }
  if (type !== 'end') return undefined;
  const [skipped, changed] = [namedFiles(fieldOf(value, 'skipped')), namedFiles(fieldOf(value, 'changed'))];
  if (skipped !== undefined && changed !== undefined) return { type, skipped, changed };
  return { type, isChanged: fieldOf(value, 'isChanged') === true };
}

/** Whether a path stays in the folder that it is relative to, unless a link on its way leads out. */
export function isFilePath(path: string): boolean {
  if (path === '') return true;
  if (path.length > MAX_FILE_PATH || path.includes('\0')) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function parseFile(value: unknown): JobFile | undefined {
  const path = fieldOf(value, 'path');
  const type = TYPES.find((each) => each === fieldOf(value, 'type'));
  const [size, modified] = [countField(value, 'size'), numberField(value, 'modified')];
  if (typeof path !== 'string' || !isFilePath(path)) return undefined;
  if (type === undefined || size === undefined || modified === undefined) return undefined;
  if (Math.abs(modified) > MAX_TIME_MS) return undefined;
  return { path, type, size, modified, isLink: fieldOf(value, 'isLink') === true };
}

function namedFiles(value: unknown): NamedFiles | undefined {
  const [paths, count] = [fieldOf(value, 'paths'), countField(value, 'count')];
  if (!Array.isArray(paths) || count === undefined) return undefined;
  const texts = paths.filter((path) => typeof path === 'string');
  return { paths: texts.slice(0, MOST_NAMED_FILES), count };
}

function countField(value: unknown, name: string): number | undefined {
  const count = numberField(value, name);
  return count !== undefined && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
