import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of the files below a folder that hold a key, as it is or encoded. */
export async function filesWith(key: string, folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return findWith(key, files);
}

/** Paths in /proc of the environments and command lines that hold a key, of all processes but these. */
export async function processesWith(key: string, except: readonly number[]): Promise<string[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && !except.includes(pid));
  return findWith(
    key,
    pids.flatMap((pid) => [`/proc/${pid}/environ`, `/proc/${pid}/cmdline`]),
  );
}

async function findWith(key: string, paths: readonly string[]): Promise<string[]> {
  const needles = formsOf(key);
  const found: string[] = [];
  for (const path of paths) {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // it went meanwhile
    if (needles.some((needle) => bytes.includes(needle))) found.push(path);
  }
  return found;
}

/** In base64 a text has three forms, by what stands before it; the letters at either end depend on its neighbours. */
function formsOf(key: string): Buffer[] {
  const encoded = [0, 1, 2].map((shift) => {
    const base64 = Buffer.from('x'.repeat(shift) + key).toString('base64url');
    return base64.slice(shift === 0 ? 0 : 4, -4);
  });
  return [Buffer.from(key), Buffer.from(key, 'utf16le'), ...encoded.map((text) => Buffer.from(text))];
}
