import { readNotebookCells } from '../../core/text/notebookCells.ts';
import { detectEncoding } from '../../core/text/textEncoding.ts';

// A PDF may start with many bytes of text before its first binary stream.
const PDF = Buffer.from('%PDF-');

/**
 * Decodes a file: UTF-8, UTF-16 with or without a byte order mark, or else Latin-1. Undefined for binary data and PDF.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  const encoding = detectEncoding(bytes);
  if (encoding === 'binary') return undefined;
  if (encoding !== 'bytes') return new TextDecoder(encoding).decode(bytes);
  if (PDF.equals(bytes.subarray(0, PDF.length))) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}

/**
 * The cells of a Jupyter notebook (nbformat 4) in the percent format; outputs are left out.
 *
 * @throws AppError `corrupt` if it is not a notebook.
 */
export function notebookText(json: string, path: string): string {
  return readNotebookCells(json, path)
    .map(({ isCode, source }) => (isCode ? `# %%\n${source}` : `# %% [markdown]\n${source}`))
    .join('\n\n');
}
