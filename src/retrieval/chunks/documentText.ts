import { AppError } from '../../core/errors.ts';

// A NUL in the first bytes means binary, as git decides it.
const SNIFFED_BYTES = 8_000;

// A PDF may begin with many bytes of text before its first binary stream.
const PDF = Buffer.from('%PDF-');

// What text has of these is white space.
const CONTROL = /[\u0000-\u0008\u000e-\u001f]/;
// At least this part of the code units has a zero byte in UTF-16 of Latin script; other scripts need the mark.
const LEAST_ZERO_BYTES = 0.5;
// Fewer are chance.
const LEAST_ZEROS = 4;

/**
 * The text of a file's bytes: UTF-8, UTF-16 with or without its byte order mark, or else Latin-1. Undefined for binary data and
 * PDF.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  const beginning = bytes.subarray(0, SNIFFED_BYTES);
  if (beginning.includes(0)) {
    const encoding = guessUtf16(beginning);
    return encoding === undefined ? undefined : new TextDecoder(encoding).decode(bytes);
  }
  if (PDF.equals(bytes.subarray(0, PDF.length))) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}

/** UTF-16 has its zeros in one byte of each two; binary data has them anywhere, beside bytes that no text has. */
function guessUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  let even = 0;
  let odd = 0;
  for (let at = 0; at < bytes.length; at += 2) if (bytes[at] === 0) even += 1;
  for (let at = 1; at < bytes.length; at += 2) if (bytes[at] === 0) odd += 1;
  const most = Math.max(even, odd);
  if (Math.min(even, odd) > 0 || most < LEAST_ZEROS || most < (LEAST_ZERO_BYTES * bytes.length) / 2) return undefined;
  const encoding = odd > 0 ? 'utf-16le' : 'utf-16be';
  const text = new TextDecoder(encoding).decode(bytes);
  return CONTROL.test(text) ? undefined : encoding;
}

/**
 * The cells of a Jupyter notebook (nbformat 4) in the percent format; outputs are left out.
 *
 * @throws AppError `corrupt` when it is not a notebook.
 */
export function notebookText(json: string, path: string): string {
  let notebook: unknown;
  try {
    notebook = JSON.parse(json);
  } catch (error) {
    throw new AppError('corrupt', `${path} is not a notebook: it is not JSON.`, { cause: error });
  }
  const cells: unknown =
    typeof notebook === 'object' && notebook !== null && 'cells' in notebook ? notebook.cells : undefined;
  if (!Array.isArray(cells)) throw new AppError('corrupt', `${path} is not a notebook: it has no cells.`);
  return cells.map(cellText).join('\n\n');
}

function cellText(cell: unknown): string {
  if (typeof cell !== 'object' || cell === null || !('source' in cell)) return '';
  const lines: readonly unknown[] = Array.isArray(cell.source) ? cell.source : [cell.source];
  const source = lines.filter((line) => typeof line === 'string').join('');
  const isCode = 'cell_type' in cell && cell.cell_type === 'code';
  return isCode ? `# %%\n${source}` : `# %% [markdown]\n${source}`;
}
