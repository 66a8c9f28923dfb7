import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';

/** A column of a table, with how its value is read. */
interface Column<T> {
  readonly name: string;
  readonly type: 'INTEGER' | 'TEXT';
  readonly read: (value: SQLOutputValue) => T;
}

export type TableColumns = Readonly<Record<string, Column<SQLInputValue>>>;
type Row = Readonly<Record<string, SQLInputValue>>;

type Value<C extends TableColumns, Field extends keyof C> = ReturnType<C[Field]['read']>;

/** The record that rows with these columns are read into, one field for each column. */
export type RecordOf<C extends TableColumns> = { readonly [Field in keyof C]: Value<C, Field> };

/** The record that a row with these columns is written from. A column that may be null can be left out. */
export type WrittenOf<C extends TableColumns> = {
  readonly [Field in keyof C as null extends Value<C, Field> ? never : Field]: Value<C, Field>;
} & { readonly [Field in keyof C as null extends Value<C, Field> ? Field : never]?: Value<C, Field> };

export function integer(name: string): Column<number> {
  return { name, type: 'INTEGER', read: Number };
}

/** @param T the only texts that the table accepts. */
export function text<T extends string = string>(name: string): Column<T> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table checks it
  return { name, type: 'TEXT', read: (value) => String(value) as T };
}

export function nullable<T>({ read, ...column }: Column<T>): Column<T | null> {
  return { ...column, read: (value) => (value === null ? null : read(value)) };
}

/** Returns a function that reads a row into a record. */
export function rowReader<C extends TableColumns>(columns: C): (row: Record<string, SQLOutputValue>) => RecordOf<C> {
  const fields = Object.entries(columns);
  return (row) => {
    const record: Record<string, unknown> = {};
    for (const [field, { name, read }] of fields) record[field] = read(row[name] ?? null);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was read by its own column
    return record as RecordOf<C>;
  };
}

/** The values of a record by the names of their columns. */
export function byColumnName(columns: TableColumns, record: Row): Row {
  return Object.fromEntries(Object.entries(columns).map(([field, { name }]) => [name, record[field] ?? null]));
}
