import type { DatabaseSync, SQLInputValue, StatementResultingChanges, StatementSync } from 'node:sqlite';
import { byColumnName, type TableColumns, type WrittenOf } from './tableColumns.ts';

/** Prepared statements by name. */
export type Statements<Texts> = { readonly [Name in keyof Texts]: StatementSync };
/** Adds a record as a row. */
export type Insert<C extends TableColumns> = (record: WrittenOf<C>) => StatementResultingChanges;

/** Prepares statements, each under its name. */
export function prepareAll<Texts extends Readonly<Record<string, string>>>(
  database: DatabaseSync,
  texts: Texts,
): Statements<Texts> {
  const prepared = Object.entries(texts).map(([name, sql]) => [name, database.prepare(sql)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one for each text
  return Object.fromEntries(prepared) as Statements<Texts>;
}

/** @param into the start of the statement, like `INSERT INTO jobs`. */
export function inserter<C extends TableColumns>(database: DatabaseSync, into: string, columns: C): Insert<C> {
  const names = namesOf(columns);
  const statement = database.prepare(`${into} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`);
  return (record) => statement.run(...valuesOf(columns, record));
}

/** Returns a function that sets these columns in the row with an ID. */
export function updater<C extends TableColumns>(
  database: DatabaseSync,
  table: string,
  columns: C,
): (id: string, record: WrittenOf<C>) => void {
  const changes = namesOf(columns).map((name) => `${name} = ?`);
  const statement = database.prepare(`UPDATE ${table} SET ${changes.join(', ')} WHERE id = ?`);
  return (id, record) => void statement.run(...valuesOf(columns, record), id);
}

/** Adds the columns that a table of an earlier version lacks. They must be nullable, because its rows have no value for them. */
export function addMissingColumns(database: DatabaseSync, table: string, columns: TableColumns): void {
  const found = database.prepare(`PRAGMA table_info(${table})`).all();
  const columnNames = new Set(found.map(({ name }) => name));
  for (const { name, type } of Object.values(columns)) {
    if (!columnNames.has(name)) database.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`);
  }
}

function namesOf(columns: TableColumns): readonly string[] {
  return Object.values(columns).map(({ name }) => name);
}

function valuesOf<C extends TableColumns>(columns: C, record: WrittenOf<C>): readonly SQLInputValue[] {
  return Object.values(byColumnName(columns, record));
}
