import { AppError } from '../core/errors.ts';

// A NUL in the first bytes means binary, as git decides it.
const SNIFFED_BYTES = 8_000;

// A PDF may begin with many bytes of text before its first binary stream.
const PDF = Buffer.from('%PDF-');

/** The text of a file's bytes: UTF-8, UTF-16 with its byte order mark, or else Latin-1. Undefined for binary data and PDF. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0) || PDF.equals(bytes.subarray(0, PDF.length))) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
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
  const source = Array.isArray(cell.source) ? cell.source.join('') : String(cell.source);
  const isCode = 'cell_type' in cell && cell.cell_type === 'code';
  return isCode ? `# %%\n${source}` : `# %% [markdown]\n${source}`;
}
