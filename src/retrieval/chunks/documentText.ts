import { AppError } from '../../core/errors.ts';
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
  let notebook: unknown;
  try {
    notebook = JSON.parse(json);
  } catch (error) {
    throw new AppError('corrupt', `${path} is not a notebook: it is not valid JSON.`, { cause: error });
  }
  const cells: unknown =
    typeof notebook === 'object' && notebook !== null && 'cells' in notebook ? notebook.cells : undefined;
  if (!Array.isArray(cells)) throw new AppError('corrupt', `${path} is not a notebook: it has no list of cells.`);
  return cells.map(cellText).join('\n\n');
}

function cellText(cell: unknown): string {
  if (typeof cell !== 'object' || cell === null || !('source' in cell)) return '';
  const lines: readonly unknown[] = Array.isArray(cell.source) ? cell.source : [cell.source];
  const source = lines.filter((line) => typeof line === 'string').join('');
  const isCode = 'cell_type' in cell && cell.cell_type === 'code';
  return isCode ? `# %%\n${source}` : `# %% [markdown]\n${source}`;
}
