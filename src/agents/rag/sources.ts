import { open, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { formatBytes } from '../../core/format.ts';
import { selectFiles } from '../../workspace/selection.ts';
import { decodeText, notebookText } from '../../retrieval/documentText.ts';
import { readWebPage } from './webPage.ts';

const MAX_FILE_BYTES = 20_000_000;
// In a folder, larger files are data or generated, and would drown the rest.
const MAX_FOLDER_FILE_BYTES = 1_000_000;

export interface Document {
  /** The path as it was given, or below the folder as it was given; or the address. */
  readonly source: string;
  readonly text: string;
}

/**
 * Reads a file, a folder or an http(s) address. A folder's files are those that submitting it would send: ignore rules
 * are respected and secrets left out; binary and very large files in it are passed over.
 *
 * @throws AppError that names the source.
 */
export async function readSource(source: string): Promise<readonly Document[]> {
  if (/^https?:\/\//i.test(source)) return [{ source, text: await readWebPage(source) }];
  let isFolder: boolean;
  try {
    isFolder = (await stat(source)).isDirectory();
  } catch (error) {
    throw new AppError('missing', `The source ${source} could not be read: ${messageOf(error)}`, { cause: error });
  }
  if (isFolder) return readFolder(source);
  const text = await readText(source, MAX_FILE_BYTES);
  if (text === undefined)
    throw new AppError(
      'bad-input',
      `The source ${source} is a binary file; only text can be indexed. Convert it to text first.`,
    );
  return [{ source, text: asText(basename(source), text, source) }];
}

async function readFolder(folder: string): Promise<Document[]> {
  const { files } = await selectFiles(folder, { isTrusted: false, maxFileBytes: MAX_FOLDER_FILE_BYTES });
  const documents: Document[] = [];
  for (const { path, size } of files) {
    if (size > MAX_FOLDER_FILE_BYTES) continue;
    const text = await readText(join(folder, path), MAX_FOLDER_FILE_BYTES).catch(() => undefined);
    if (text !== undefined) documents.push({ source: posix(join(folder, path)), text: asText(path, text, undefined) });
  }
  return documents;
}

/** A notebook as its cells. Where a folder was asked for, a broken notebook is as good as plain text. */
function asText(path: string, text: string, named: string | undefined): string {
  if (!path.toLowerCase().endsWith('.ipynb')) return text;
  try {
    return notebookText(text, named ?? path);
  } catch (error) {
    if (named !== undefined) throw error;
    return text;
  }
}

async function readText(path: string, maxBytes: number): Promise<string | undefined> {
  const stats = await stat(path);
  // Before it is opened: opening a pipe waits for its other end, and a device may never end.
  if (!stats.isFile()) throw new AppError('bad-input', `The source ${path} is neither a file nor a folder.`);
  if (stats.size > maxBytes) {
    throw new AppError(
      'limit',
      `The source ${path} has ${formatBytes(stats.size)}; at most ${formatBytes(maxBytes)} are indexed.`,
    );
  }
  try {
    await using file = await open(path);
    return decodeText(await file.readFile());
  } catch (error) {
    throw new AppError('permission', `The source ${path} could not be read: ${messageOf(error)}`, { cause: error });
  }
}

function posix(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
