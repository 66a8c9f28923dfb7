import type * as Unpdf from 'unpdf';
import { AppError, messageOf } from '../../core/errors.ts';

const PDF_READER = 'unpdf';
const HEADER = Buffer.from('%PDF-');

type PdfReader = Pick<typeof Unpdf, 'getDocumentProxy' | 'extractText'>;

export function isPdf(bytes: Uint8Array): boolean {
  return HEADER.equals(bytes.subarray(0, HEADER.length));
}

/**
 * The text of a PDF, page by page, through the package `unpdf`, which the user installs.
 *
 * @throws AppError that names the file: `missing` without the package, `permission` for one that needs a password, `corrupt` for a
 * broken one, `bad-input` for one without text, such as a scan.
 */
export async function pdfPages(bytes: Uint8Array, path: string): Promise<readonly string[]> {
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
