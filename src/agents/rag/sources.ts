import { stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import type * as Unpdf from 'unpdf';
import { AppError, messageOf } from '../../core/errors.ts';
import { withoutUserinfo } from '../../core/redact.ts';
import { formatBytes } from '../../core/text/format.ts';
import { readNamedBytes } from '../../core/files/namedFile.ts';
import { selectFiles } from '../../workspace/select/selection.ts';
import { decodeText, notebookText } from '../../retrieval/chunks/documentText.ts';
import { isNotebook } from '../../retrieval/chunks/languages.ts';
import { htmlText } from './htmlText.ts';
import type { LeftOutSource } from './ragOptions.ts';
import { readWebPage } from './webPage.ts';

const MAX_FILE_BYTES = 20_000_000;
// Data would dominate the results of a folder.
const MAX_DATA_BYTES = 1_000_000;
const DATA = /\.(?:csv|tsv|jsonl?|ndjson|geojson|xml|svg|sql|log|map)$|\.min\.\w+$/i;
const HTML = /\.x?html?$/i;
// The runtime of a flow's job, recorded runs, and tests. They contain earlier questions and answers, which would fit every question best.
const OF_FLOWS = /(?:^|\/)(?:\.farwharf|farwharf-flow)\/|\.flowtest\.json$/;
const PDF_READER = 'unpdf';
const HEADER = Buffer.from('%PDF-');

export interface Document {
  /** The path or address as specified; for a file in a folder, the path below it. */
  readonly source: string;
  readonly text: string;
  /** Of a PDF, whose pages are documents of their own; from 1. */
  readonly page?: number;
}

/** Files of a folder that were not read although they may have text, and why. */
export interface ReadSource {
  readonly documents: readonly Document[];
  readonly leftOut: readonly LeftOutSource[];
}

type PdfReader = Pick<typeof Unpdf, 'getDocumentProxy' | 'extractText'>;

/**
 * Reads a file, a folder or an http(s) address. A folder's files are those that submitting it would send: ignore rules
 * apply and secrets are left out; binary files in it are skipped, and what flows leave there.
 *
 * @throws AppError that names the source.
 */
export async function readRagSource(source: string): Promise<ReadSource> {
  if (/^https?:\/\//i.test(source))
    return allOf([{ source: withoutUserinfo(source), text: await readWebPage(source) }]);
  let isFolder: boolean;
  try {
    isFolder = (await stat(source)).isDirectory();
  } catch (error) {
    throw new AppError('missing', `The source ${source} could not be read: ${messageOf(error)}`, { cause: error });
  }
  if (isFolder) return readFolder(source);
  const documents = await toDocuments(basename(source), await readBytes(source, MAX_FILE_BYTES), source);
  if (documents !== undefined) return allOf(documents);
  throw new AppError(
    'bad-input',
    `The source ${source} is a binary file; only text can be indexed. Convert it to text first.`,
  );
}

function allOf(documents: readonly Document[]): ReadSource {
  return { documents, leftOut: [] };
}

async function readFolder(folder: string): Promise<ReadSource> {
  const { files } = await selectFiles(folder, { isTrusted: false, maxFileBytes: MAX_FILE_BYTES });
  const documents: Document[] = [];
  const leftOut: LeftOutSource[] = [];
  for (const { path } of files.filter(({ path }) => !OF_FLOWS.test(path))) {
    const file = join(folder, path);
    const source = posix(file);
    try {
      const bytes = await readBytes(file, DATA.test(path) ? MAX_DATA_BYTES : MAX_FILE_BYTES);
      documents.push(...((await toDocuments(path, bytes, source, { isNamed: false })) ?? []));
    } catch (error) {
      leftOut.push({ source, reason: messageOf(error) });
    }
  }
  return { documents, leftOut };
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
  if (HTML.test(path)) return [{ source, text: htmlText(text) }];
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

function isPdf(bytes: Uint8Array): boolean {
  return HEADER.equals(bytes.subarray(0, HEADER.length));
}

/**
 * The text of a PDF, page by page, through the package `unpdf`, which the user installs.
 *
 * @throws AppError that names the file: `missing` without the package, `permission` for one that needs a password, `corrupt` for a
 * broken one, `bad-input` for one without text, such as a scan.
 */
async function pdfPages(bytes: Uint8Array, path: string): Promise<readonly string[]> {
  const reader = await loadReader(path);
  let pages: string[];
  try {
    // The package keeps the bytes, so it gets a copy; without `verbosity: 0` it would print warnings.
    const document = await reader.getDocumentProxy(Uint8Array.from(bytes), { verbosity: 0 });
    ({ text: pages } = await reader.extractText(document));
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw new AppError('permission', `The PDF ${path} is encrypted. Save a copy of it without a password.`, {
        cause: error,
      });
    }
    throw new AppError('corrupt', `The PDF ${path} could not be read: ${messageOf(error)}`, { cause: error });
  }
  if (pages.some((page) => page.trim() !== '')) return pages;
  throw new AppError('bad-input', `The PDF ${path} contains no text, only images or nothing. Run OCR on it first.`);
}

async function loadReader(path: string): Promise<PdfReader> {
  const name = PDF_READER; // not a literal in import(), or bundlers would include 2 MB that few need
  try {
    const reader: unknown = await import(name);
    if (isPdfReader(reader)) return reader;
    throw new TypeError(`${name} has no getDocumentProxy.`);
  } catch (error) {
    throw new AppError(
      'missing',
      `Reading the PDF ${path} needs the package ${name}. Install it (npm install ${name}), or convert the file to text.`,
      { cause: error },
    );
  }
}

function isPdfReader(value: unknown): value is PdfReader {
  return typeof value === 'object' && value !== null && 'getDocumentProxy' in value && 'extractText' in value;
}
