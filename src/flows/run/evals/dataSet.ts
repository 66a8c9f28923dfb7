import { stat } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { stableJson } from '../../../agents/records/plainJson.ts';
import { AppError } from '../../../core/errors.ts';
import { readProblem } from '../../../core/files/readProblem.ts';
import { type EvalCheck, readChecks } from './check.ts';
import { MAX_ROW_DEPTH, type Row, rowsOf, TOO_DEEP } from './dataRows.ts';

const MAX_CASES = 10_000;
const MAX_FAULTS = 10;

/** The names of data sets beside their flow files: `research.cases.jsonl`, `research.harbours.cases.csv`. */
export const CASES_PATTERN = '*.cases.{jsonl,csv}';

const SUFFIX = /\.cases\.(?:jsonl|csv)$/i;
const EXTENSIONS = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];

/** One case of a data set. */
export interface EvalCase {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly name: string;
  /** What finds the same case in an earlier eval: its name, or a hash of its shared state. */
  readonly key: string;
  /** The initial shared state. */
  readonly shared: Readonly<Record<string, unknown>>;
  readonly checks: readonly EvalCheck[];
}

const rowSchema = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  shared: z.record(z.string(), z.json()).optional(),
  expect: z.record(z.string(), z.json()).optional(),
});

/**
 * The cases of a JSONL or CSV file.
 *
 * JSONL: `{"name", "shared", "expect"}` for each case; a line with `expect` alone is for all cases below it. CSV: a header with `name`, keys of
 * the shared state, and `expect.KEY`, `expect.KEY.$matches` and so on.
 *
 * @throws AppError `missing` if the file cannot be read, `limit` if it is too large, `bad-input` that names the line of each bad row.
 */
export async function readDataSet(path: string): Promise<readonly EvalCase[]> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw new AppError('missing', readProblem(`The data set ${path}`, cause), { cause });
  });
  if (!stats.isFile()) throw new AppError('bad-input', `The data set ${path} is not a file.`);
  const cases = new CaseList(path);
  for await (const row of rowsOf(path)) {
    cases.add(row);
    if (cases.isFull) break;
  }
  return cases.result();
}

/** Checks rows one by one and collects what is wrong with them. */
class CaseList {
  readonly #path: string;
  readonly #cases: EvalCase[] = [];
  readonly #faults: string[] = [];
  readonly #lines = new Map<string, number>();
  #common: readonly EvalCheck[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  get isFull(): boolean {
    return this.#faults.length >= MAX_FAULTS || this.#cases.length > MAX_CASES;
  }

  add(row: Row): void {
    const fault = row.type === 'bad' ? row.reason : this.#read(row);
    if (fault !== undefined) this.#faults.push(`${this.#path}:${row.line}: ${fault}.`);
  }

  result(): readonly EvalCase[] {
    if (this.#faults.length > 0) {
      throw new AppError('bad-input', `The data set has bad rows, so nothing was run.\n${this.#faults.join('\n')}`);
    }
    if (this.#cases.length > MAX_CASES) {
      throw new AppError('limit', `The data set ${this.#path} has more than ${MAX_CASES} cases. Split it.`);
    }
    if (this.#cases.length === 0) throw new AppError('bad-input', `The data set ${this.#path} has no cases.`);
    return this.#cases;
  }

  /** Adds a case, or returns what is wrong with its row. */
  #read(row: Exclude<Row, { type: 'bad' }>): string | undefined {
    const { line } = row;
    const fault = faultOf(row.type === 'json' ? row.value : [row.shared, row.expect]);
    if (fault !== undefined) return fault;
    const parsed = rowSchema.safeParse(row.type === 'json' ? row.value : { name: row.name, shared: row.shared });
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      return `${issue?.path.join('.') || 'the row'}: ${issue?.message ?? 'it is not a case'}`;
    }
    const { name, shared } = parsed.data;
    const checks: EvalCheck[] = [];
    for (const [key, expected] of row.type === 'csv' ? row.expect : Object.entries(parsed.data.expect ?? {})) {
      const read = readChecks(key, expected, row.type === 'csv');
      if (typeof read === 'string') return read;
      checks.push(...read);
    }
    if (shared === undefined) {
      if (name !== undefined || checks.length === 0) return 'it has no "shared", the initial state of the case';
      this.#common = [...this.#common, ...checks];
      return undefined;
    }
    const key = name ?? createHash('sha256').update(stableJson(shared)).digest('hex').slice(0, 16);
    const earlierLine = this.#lines.get(key);
    if (earlierLine !== undefined)
      return `it has the same ${name === undefined ? 'shared state' : 'name'} as line ${earlierLine}`;
    this.#lines.set(key, line);
    this.#cases.push({ line, name: name ?? `line ${line}`, key, shared, checks: [...this.#common, ...checks] });
    return undefined;
  }
}

/** The reason why a value is unsafe to copy: a key that would change the prototype of the copy, or too many levels. */
function faultOf(value: unknown, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_ROW_DEPTH) return TOO_DEEP;
  if (Object.hasOwn(value, '__proto__')) return 'the key "__proto__" is not allowed';
  for (const inner of Object.values(value)) {
    const fault = faultOf(inner, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The flow file beside a data set, by its name; undefined if there is none. */
export async function evaluatedFile(data: string): Promise<string | undefined> {
  if (!SUFFIX.test(data)) return undefined;
  let stem = basename(data).replace(SUFFIX, '');
  for (;;) {
    for (const extension of EXTENSIONS) {
      const file = join(dirname(data), stem + extension);
      const stats = await stat(file).catch((): undefined => undefined);
      if (stats?.isFile() === true) return file;
    }
    const dot = stem.lastIndexOf('.');
    if (dot <= 0) return undefined;
    stem = stem.slice(0, dot);
  }
}
