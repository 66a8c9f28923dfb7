import { stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { AppError, messageOf } from '../../core/errors.ts';
import { withoutUserinfo } from '../../core/redact.ts';
import { formatBytes } from '../../core/text/format.ts';
import { readNamedBytes } from '../../core/files/namedFile.ts';
import { selectFiles } from '../../workspace/select/selection.ts';
import { decodeText, notebookText } from '../../retrieval/chunks/documentText.ts';
import { isNotebook } from '../../retrieval/chunks/languages.ts';
import { isPdf, pdfPages } from './pdfText.ts';
import { readWebPage } from './webPage.ts';

const MAX_FILE_BYTES = 20_000_000;
// In a folder, larger files are data or generated, and would dominate the results.
const MAX_FOLDER_FILE_BYTES = 1_000_000;
const PDF = /\.pdf$/i;
// The runtime of a flow's job, recorded runs, and tests. They contain earlier questions and answers, which would fit every question best.
const OF_FLOWS = /(?:^|\/)(?:\.farwharf|farwharf-flow)\/|\.flowtest\.json$/;

export interface Document {
  /** The path or address as specified; for a file in a folder, the path below it. */
  readonly source: string;
  readonly text: string;
  /** Of a PDF, whose pages are documents of their own; from 1. */
  readonly page?: number;
}

/**
 * Reads a file, a folder or an http(s) address. A folder's files are those that submitting it would send: ignore rules
 * apply and secrets are left out; binary, broken and very large files in it are skipped, and what flows leave there.
 *
 * @throws AppError that names the source.
 */
export async function readSource(source: string): Promise<readonly Document[]> {
  if (/^https?:\/\//i.test(source)) return [{ source: withoutUserinfo(source), text: await readWebPage(source) }];
  let isFolder: boolean;
  try {
    isFolder = (await stat(source)).isDirectory();
  } catch (error) {
    throw new AppError('missing', `The source ${source} could not be read: ${messageOf(error)}`, { cause: error });
  }
  if (isFolder) return readFolder(source);
  const documents = await toDocuments(basename(source), await readBytes(source, MAX_FILE_BYTES), source);
  if (documents !== undefined) return documents;
  throw new AppError(
    'bad-input',
    `The source ${source} is a binary file; only text can be indexed. Convert it to text first.`,
  );
}

async function readFolder(folder: string): Promise<Document[]> {
  const { files } = await selectFiles(folder, { isTrusted: false, maxFileBytes: MAX_FILE_BYTES });
  const documents: Document[] = [];
  for (const { path, size } of files) {
    const limit = PDF.test(path) ? MAX_FILE_BYTES : MAX_FOLDER_FILE_BYTES;
    if (size > limit || OF_FLOWS.test(path)) continue;
    const file = join(folder, path);
    // Unreadable files are skipped, including PDFs without the package that reads them.
    const read = await readBytes(file, limit)
      .then((bytes) => toDocuments(path, bytes, posix(file), { isNamed: false }))
      .catch(() => undefined);
    documents.push(...(read ?? []));
  }
  return documents;
}

/** A file as text, a PDF as its pages, a notebook as its cells; undefined for other binary data. */
async function toDocuments(
  path: string,
  bytes: Uint8Array,
  source: string,
  { isNamed = true }: { readonly isNamed?: boolean } = {},
): Promise<readonly Document[] | undefined> {
  if (isPdf(bytes)) {
    const pages = await pdfPages(bytes, source);
    return pages.map((text, index) => ({ source, text, page: index + 1 }));
  }
  const text = decodeText(bytes);
  if (text === undefined) return undefined;
  if (!isNotebook(path)) return [{ source, text }];
  try {
    return [{ source, text: notebookText(text, isNamed ? source : path) }];
  } catch (error) {
    if (isNamed) throw error;
    return [{ source, text }]; // in a folder, a broken notebook is indexed as plain text
  }
}

/** @throws AppError `missing` or `bad-input` that names the source, `limit` above the limit. */
async function readBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  const { size } = await stat(path);
  if (size > maxBytes) {
    throw new AppError('limit', `The source ${path} has ${formatBytes(size)}; the limit is ${formatBytes(maxBytes)}.`);
  }
  return readNamedBytes(path, { name: `The source ${path}`, maxBytes });
}

function posix(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}
