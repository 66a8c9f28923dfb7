import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** Returns where the packed extension of this version lies, or will lie. */
export async function vsixPath(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  return join(ROOT, `farwharf-${version}.vsix`);
}
