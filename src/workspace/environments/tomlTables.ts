import { parse, TomlError } from 'smol-toml';
import { AppError } from '../../core/errors.ts';
import { fieldOf } from '../../core/jsonFields.ts';
import type { PackageFile } from './packageFile.ts';

/** The tables of a TOML file. @throws AppError `bad-input` with the line if it is not valid. */
export function parseToml({ path, text }: PackageFile): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new AppError('bad-input', `${path} is not valid TOML. Correct line ${error.line}, then submit again.`);
  }
}

/** A value below several keys; undefined if there is none. */
export function tomlValue(table: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce(fieldOf, table);
}

/** The elements of an array of tables; empty for anything else. */
export function tomlList(table: unknown, ...keys: readonly string[]): readonly unknown[] {
  const value = tomlValue(table, ...keys);
  return Array.isArray(value) ? value : [];
}

/** The texts of an array; undefined unless it has nothing else. */
export function tomlTexts(table: unknown, ...keys: readonly string[]): readonly string[] | undefined {
  const value = tomlValue(table, ...keys);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((each) => typeof each === 'string');
  return texts.length === value.length ? texts : undefined;
}
