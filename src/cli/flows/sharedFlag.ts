import { resolve } from 'node:path';
import { parseJsonObject, readNamedFile } from '../grammar/jsonObject.ts';

/** The shared state from JSON, or from the file after `@`. */
export async function readShared(text: string): Promise<Readonly<Record<string, unknown>>> {
  const json = text.startsWith('@') ? await readNamedFile(resolve(text.slice(1))) : text;
  return parseJsonObject(json, '--shared', '{"topic": "harbours"}');
}
