import type { SQLInputValue } from 'node:sqlite';
import { wordsForStates } from '../../remote/protocol/spellings.ts';
import { isFinalState } from '../../remote/protocol/states.ts';
import type { JobFilter } from './jobFilter.ts';
import type { JobRecord } from './record.ts';

export const DEFAULT_LIMIT = 100;
const FINAL_WORDS = wordsForStates(isFinalState);

export interface ListQuery {
  readonly host?: string;
  readonly folder?: string;
  readonly state?: string;
  /** Only jobs that have not ended, as defined by `isOver`. */
  readonly isUnfinished?: boolean;
  /** Only jobs that the user pinned. */
  readonly isPinned?: boolean;
  /** Only jobs of the sweep with this ID. */
  readonly sweep?: string;
  /** Only jobs that pass this filter. */
  readonly filter?: JobFilter;
  /** Also jobs that the user removed from the list. */
  readonly withRemoved?: boolean;
  /** 100 by default. */
  readonly limit?: number;
  /** The last record of the previous page. */
  readonly before?: Pick<JobRecord, 'createdAt' | 'id'>;
}

/** The statement that selects the records of a list, newest first, and its parameters. It does not apply `filter`, and limits nothing if there is one. */
export function listStatement(query: ListQuery): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const where = (condition: string, ...input: SQLInputValue[]): void => {
    conditions.push(condition);
    values.push(...input);
  };
  if (query.withRemoved !== true) where('removed = 0');
  if (query.host !== undefined) where('host = ?', query.host);
  if (query.folder !== undefined) where('folder = ?', query.folder);
  if (query.state !== undefined) where('state = ?', query.state);
  if (query.sweep !== undefined) where("record ->> '$.sweep.id' = ?", query.sweep);
  if (query.isPinned === true) where("record ->> 'pinned' = 1");
  if (query.isUnfinished === true) {
    where(`lower(state) NOT IN (${FINAL_WORDS.map(() => '?').join(', ')})`, ...FINAL_WORDS);
    where("json_extract(record, '$.finishedAt') IS NULL AND json_extract(record, '$.exitCode') IS NULL");
  }
  if (query.before !== undefined) where('(created_at, id) < (?, ?)', query.before.createdAt, query.before.id);
  const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const sql = `SELECT record FROM jobs ${filter} ORDER BY created_at DESC, id DESC LIMIT ?`;
  return { sql, values: [...values, query.filter === undefined ? (query.limit ?? DEFAULT_LIMIT) : -1] };
}
