import type { SQLOutputValue } from 'node:sqlite';

/** A column of a table, with how its value is read. */
interface Column<T> {
  readonly name: string;
  readonly read: (value: SQLOutputValue) => T;
}

type Columns = Readonly<Record<string, Column<unknown>>>;

/** The record that rows with these columns are read into, one field for each column. */
export type RecordOf<C extends Columns> = { readonly [Field in keyof C]: ReturnType<C[Field]['read']> };

export function integer(name: string): Column<number> {
  return { name, read: Number };
}

/** @param T the only texts that the table accepts. */
export function text<T extends string = string>(name: string): Column<T> {
  return { name, read: (value) => String(value) as T };
}

export function nullable<T>({ name, read }: Column<T>): Column<T | null> {
  return { name, read: (value) => (value === null ? null : read(value)) };
}

/** Returns a function that reads a row into a record. */
export function rowReader<C extends Columns>(columns: C): (row: Record<string, SQLOutputValue>) => RecordOf<C> {
  const fields = Object.entries(columns);
  return (row) =>
    Object.fromEntries(fields.map(([field, { name, read }]) => [field, read(row[name] ?? null)])) as RecordOf<C>;
}
