import { printableLine } from '../../core/text/printable.ts';
import { cutToWidth, padToWidth, textWidth } from '../../core/text/textWidth.ts';

const GAP = '  ';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Cells may be truncated to this width; never if absent. */
  readonly minWidth?: number;
  /** If the table is still too wide, columns are omitted in this order; a column without a number stays. */
  readonly dropOrder?: number;
}

interface FittedColumn extends Column {
  readonly index: number;
  readonly width: number;
}

/**
 * Formats rows as columns of text, two spaces apart, without trailing spaces. Empty columns are omitted.
 *
 * @param maxWidth in cells; undefined for no limit. Lines exceed it only if the columns that must stay need more.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  maxWidth: number | undefined,
): string[] {
  const lines = [columns.map(({ title }) => title), ...rows].map((row) => row.map(cellText));
  const used = columns
    .map((column, index) => ({
      ...column,
      index,
      width: lines.reduce((width, line) => Math.max(width, textWidth(line[index] ?? '')), 0),
    }))
    .filter(({ index }) => lines.slice(1).some((line) => (line[index] ?? '') !== ''));
  const fitted = maxWidth === undefined ? used : fit(used, maxWidth);
  return lines.map((line) =>
    fitted
      .map(({ index, width, align }) => padToWidth(cutToWidth(line[index] ?? '', width), width, align))
      .join(GAP)
      .trimEnd(),
  );
}

/** Truncates columns, and omits some if that is not enough. */
function fit(columns: readonly FittedColumn[], maxWidth: number): readonly FittedColumn[] {
  const excess = totalWidth(columns) - maxWidth;
  const spare = columns.reduce((sum, column) => sum + spareOf(column), 0);
  if (excess <= spare) return shorten(columns, excess);
  const droppable = columns.filter(({ dropOrder }) => dropOrder !== undefined);
  if (droppable.length === 0) return shorten(columns, spare);
  const first = Math.min(...droppable.map(({ dropOrder = 0 }) => dropOrder));
  return fit(
    columns.filter(({ dropOrder }) => dropOrder !== first),
    maxWidth,
  );
}

/** Reduces the total width by `excess` cells, each time at the widest column that can be truncated. */
function shorten(columns: readonly FittedColumn[], excess: number): readonly FittedColumn[] {
  if (excess <= 0) return columns;
  const widest = Math.max(...columns.filter((column) => spareOf(column) > 0).map(({ width }) => width));
  const widestColumn = columns.findIndex((column) => column.width === widest && spareOf(column) > 0);
  return shorten(
    columns.map((column, index) => (index === widestColumn ? { ...column, width: column.width - 1 } : column)),
    excess - 1,
  );
}

function totalWidth(columns: readonly FittedColumn[]): number {
  return columns.reduce((sum, { width }) => sum + width, GAP.length * (columns.length - 1));
}

function spareOf({ width, minWidth }: FittedColumn): number {
  return minWidth === undefined ? 0 : Math.max(0, width - minWidth);
}

function cellText(cell: string): string {
  return printableLine(cell.replaceAll('\t', ' '));
}
