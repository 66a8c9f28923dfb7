import { hash } from 'node:crypto';
import * as z from 'zod';
import { tryParseJson } from '../../core/jsonFields.ts';
import type { CellIdentity } from '../../workspace/notebooks/matchCells.ts';
import { DataLines } from '../log/dataLines.ts';

// The program that runs notebooks stays below these limits. A job can print anything.
const MAX_LINE = 1_000_000;
const MAX_CELLS = 2_000;
const MAX_OUTPUTS = 50;
const MAX_TEXT = 64_000;
/** Of all outputs of a job. Cells above it keep their state only. */
const MAX_BYTES = 48_000_000;
const HASH_LENGTH = 16;
/** Bytes of events in which the notebook starts. Packages may be installed before. */
const MAX_BEGINNING = 32_000_000;

const text = z.string().transform((value) => value.slice(-MAX_TEXT));
const picture = z.base64();
// Neither HTML nor SVG nor JavaScript: a job cannot run anything in the window. They come with the results, which VS Code does not trust by itself.
const output = z.discriminatedUnion('output_type', [
  z.object({ output_type: z.literal('stream'), name: z.enum(['stdout', 'stderr']), text }),
  z.object({
    output_type: z.literal('display_data'),
    data: z.object({
      'text/plain': text.optional(),
      'image/png': picture.optional(),
      'image/jpeg': picture.optional(),
    }),
  }),
  z.object({ output_type: z.literal('error'), ename: text, evalue: text, traceback: text }),
]);
const id = z.string().min(1).max(64);
const sourceHash = z.string().length(HASH_LENGTH);
const beginning = z.object({ cells: z.array(z.tuple([id.nullable(), sourceHash])).max(MAX_CELLS) });
const report = z.object({
  cell: z.number().int().min(1).max(MAX_CELLS),
  state: z.enum(['running', 'done', 'failed']),
  count: z.number().int().min(0).nullable().catch(null),
  outputs: z.array(output).max(MAX_OUTPUTS),
  isCut: z.boolean().catch(false),
});

/** What a cell shows, without what could run anything. `image/png` and `image/jpeg` are base64, and empty for pictures that are too large. */
export type LiveOutput = z.output<typeof output>;

export type LiveState = 'queued' | 'running' | 'done' | 'failed' | 'stopped';

export interface LiveCell {
  /** Its `source` is `sourceHashOf` the source as it was submitted. */
  readonly identity: CellIdentity;
  /** `stopped`: the job ended while the cell ran or before. */
  readonly state: LiveState;
  /** The number that Jupyter shows beside a cell. */
  readonly count: number | null;
  /** Undefined for a cell that has not started. */
  readonly outputs: readonly LiveOutput[] | undefined;
  /** Whether the first outputs are missing. */
  readonly isCut: boolean;
}

/** What `LiveCell.identity` has in place of the source. */
export function sourceHashOf(source: string): string {
  return hash('sha256', source.replaceAll('\r\n', '\n')).slice(0, HASH_LENGTH);
}

/**
 * The cells with code of a notebook that a job runs, as far as they are, from lines of its output:
 *
 *     farwharf:cell {"cells": [["<id or null>", "<hash>"], …]}       when it starts
 *     farwharf:cell {"cell": 1, "state": "running", "count": null, "outputs": […]}       again whenever that changes
 *
 * Anything else is ignored.
 */
export class LiveCells {
  readonly #lines = new DataLines('cell', MAX_LINE);
  #cells: LiveCell[] = [];
  #bytes: number[] = [];

  get all(): readonly LiveCell[] {
    return this.#cells;
  }

  /** Adds an event of the job. Returns whether something changed. */
  push(event: { readonly event: string; readonly data: unknown }): boolean {
    if (event.event === 'end') return this.#end();
    const changes = this.#lines.push(event).map((line) => this.#add(line));
    return changes.includes(true);
  }

  #add(line: string): boolean {
    const value = tryParseJson(line);
    const begun = beginning.safeParse(value).data;
    if (begun !== undefined) {
      // Another attempt of the job starts anew.
      this.#cells = begun.cells.map(([cellId, source]) => ({
        identity: { isCode: true, source, ...(cellId !== null && { id: cellId }) },
        state: 'queued',
        count: null,
        outputs: undefined,
        isCut: false,
      }));
      this.#bytes = this.#cells.map(() => 0);
      return true;
    }
    const { cell, ...found } = report.safeParse(value).data ?? { cell: 0 };
    const before = this.#cells[cell - 1];
    if (before === undefined || !('state' in found)) return false;
    const others = this.#bytes.reduce((sum, bytes, index) => (index === cell - 1 ? sum : sum + bytes), 0);
    const fits = others + line.length <= MAX_BYTES;
    if (fits) this.#bytes[cell - 1] = line.length;
    const { outputs, isCut } = fits ? found : before;
    this.#cells[cell - 1] = { ...before, state: found.state, count: found.count, outputs, isCut };
    return true;
  }

  #end(): boolean {
    this.#cells = this.#cells.map((cell) =>
      cell.state === 'running' || cell.state === 'queued' ? { ...cell, state: 'stopped' } : cell,
    );
    return this.#cells.length > 0;
  }
}

/** The cells of the notebook as it was submitted, from the events of its job; empty if it did not start. */
export async function submittedCells(
  events: AsyncIterable<{ readonly event: string; readonly data: unknown; readonly seq: number }>,
): Promise<readonly CellIdentity[]> {
  const cells = new LiveCells();
  for await (const event of events) {
    cells.push(event);
    if (cells.all.length > 0 || event.seq > MAX_BEGINNING) break;
  }
  return cells.all.map(({ identity }) => identity);
}
