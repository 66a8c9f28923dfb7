import { tryParseJson } from '../../core/jsonFields.ts';
import { PARAMETERS_TAG } from '../../core/text/notebookCells.ts';
import { type CellIdentity, matchCells } from './matchCells.ts';

type Fields = Record<string, unknown>;

interface Cell {
  readonly fields: Fields;
  readonly identity: CellIdentity;
}

interface Notebook {
  readonly fields: Fields;
  readonly cells: readonly Cell[];
}

export interface MergedNotebook {
  /** The local notebook with the outputs, as JSON in the local file's layout. */
  readonly text: string;
  /** How many cells were edited meanwhile, so that their outputs are those of an older version. */
  readonly olderOutputs: number;
}

/** In the metadata of a cell: its output comes from an older version of its source. */
export const OLDER_OUTPUT = 'farwharf_older_output';

const OUTPUT_TYPES: ReadonlySet<unknown> = new Set(['stream', 'display_data', 'execute_result', 'error']);

/**
 * Puts the outputs of an executed notebook into the local version of it. Only outputs change: an edited cell keeps the edit, and its
 * output is marked as older; added cells stay, and removed ones stay removed. Cells that did not run keep the outputs that they have. The
 * cell with the parameters of the run is added, in place of that of an earlier run.
 *
 * @returns undefined if one of them is not a notebook of nbformat 4.
 */
export function mergeNotebooks(local: string, executed: string): MergedNotebook | undefined {
  const [mine, theirs] = [readNotebook(local), readNotebook(executed)];
  if (mine === undefined || theirs === undefined) return undefined;
  const hasParameters = theirs.cells.some(areParameters);
  const own = hasParameters ? mine.cells.filter((cell) => !areParameters(cell)) : mine.cells;
  const places = matchCells(
    theirs.cells.filter((cell) => !areParameters(cell)).map(identityOf),
    own.map(identityOf),
  ).values();
  const outputs = new Map<Cell, Fields>();
  const added = new Map<Cell | undefined, Fields[]>();
  let olderOutputs = 0;
  let last: Cell | undefined;
  for (const ran of theirs.cells) {
    if (areParameters(ran)) {
      added.set(last, [...(added.get(last) ?? []), ran.fields]);
      continue;
    }
    const cell = own[places.next().value ?? -1];
    if (cell === undefined) continue;
    last = cell;
    if (!cell.identity.isCode || !hasRun(ran)) continue;
    const isOlder = cell.identity.source !== ran.identity.source;
    if (isOlder) olderOutputs += 1;
    outputs.set(cell, withOutputs(cell.fields, ran.fields, isOlder));
  }
  const cells = own.flatMap((cell) => [outputs.get(cell) ?? cell.fields, ...(added.get(cell) ?? [])]);
  const ordered = [...(added.get(undefined) ?? []), ...cells];
  return { text: inLayoutOf(local, { ...mine.fields, cells: ordered }), olderOutputs };
}

function withOutputs(cell: Fields, ran: Fields, isOlder: boolean): Fields {
  const { [OLDER_OUTPUT]: _, ...metadata } = isFields(cell['metadata']) ? cell['metadata'] : {};
  const count = ran['execution_count'];
  return {
    ...cell,
    metadata: isOlder ? { ...metadata, [OLDER_OUTPUT]: true } : metadata,
    outputs: outputsOf(ran),
    execution_count: typeof count === 'number' ? count : null,
  };
}

function hasRun({ fields }: Cell): boolean {
  return typeof fields['execution_count'] === 'number' || outputsOf(fields).length > 0;
}

function outputsOf({ outputs }: Fields): readonly Fields[] {
  const all: readonly unknown[] = Array.isArray(outputs) ? outputs : [];
  return all.filter((output) => isFields(output)).filter((output) => OUTPUT_TYPES.has(output['output_type']));
}

/** Whether it is the cell with the parameters of a run. */
function areParameters({ fields }: Cell): boolean {
  const tags = isFields(fields['metadata']) ? fields['metadata']['tags'] : undefined;
  return Array.isArray(tags) && tags.includes(PARAMETERS_TAG);
}

function identityOf({ identity }: Cell): CellIdentity {
  return identity;
}

function readNotebook(json: string): Notebook | undefined {
  const fields = tryParseJson(json.replace(/^\uFEFF/, ''));
  if (!isFields(fields) || fields['nbformat'] !== 4 || !Array.isArray(fields['cells'])) return undefined;
  const cells: readonly unknown[] = fields['cells'];
  const known = cells.map(readCell).filter((cell) => cell !== undefined);
  return known.length === cells.length ? { fields, cells: known } : undefined;
}

function readCell(fields: unknown): Cell | undefined {
  if (!isFields(fields)) return undefined;
  const { id, source, cell_type: type } = fields;
  const lines: readonly unknown[] = Array.isArray(source) ? source : [source];
  if (!lines.every((line) => typeof line === 'string')) return undefined;
  const identity = { isCode: type === 'code', source: lines.join(''), ...(typeof id === 'string' && { id }) };
  return { fields, identity };
}

/** JSON that is indented as a text is, and ends as it does. */
function inLayoutOf(text: string, value: Fields): string {
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '';
  return JSON.stringify(value, undefined, indent) + (text.endsWith('\n') ? '\n' : '');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
