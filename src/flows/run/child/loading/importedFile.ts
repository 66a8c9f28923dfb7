import { pathToFileURL } from 'node:url';

type Exports = Readonly<Record<string, unknown>>;

/** Imports a flow file and returns its exports, whose values may still change. */
export async function importedFile(file: string): Promise<Exports> {
  const exports: unknown = await import(pathToFileURL(file).href);
  return isExports(exports) ? exports : {};
}

function isExports(value: unknown): value is Exports {
  return typeof value === 'object' && value !== null;
}
