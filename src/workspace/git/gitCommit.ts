import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { readBounded } from '../files/boundedRead.ts';
import { findRepository, type Repository } from './repository.ts';

const MOST_REFERENCE_BYTES = 4096;
const MOST_PACKED_BYTES = 64 << 20;
const MOST_STEPS = 5; // as many symbolic references as git follows (SYMREF_MAXDEPTH)
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const BRANCH = /^refs\/[^\0-\x20\x7f\\:?*[^~]+$/;

/**
 * The current commit of a folder, read without git. Null outside a repository, in a repository of another user, before the first commit,
 * and in a repository with `extensions.refStorage = reftable`.
 */
export async function readGitCommit(folder: string): Promise<string | null> {
  const repository = await findRepository(await realpath(folder));
  if (repository?.isOwn !== true) return null;
  let name = 'HEAD';
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const value = await readReference(repository, name);
    if (value === undefined || COMMIT.test(value)) return value ?? null;
    const next = /^ref:\s*(\S+)$/.exec(value)?.[1] ?? '';
    if (!BRANCH.test(next) || next.split('/').includes('..')) return null;
    name = next;
  }
  return null;
}

/** Loose references win over packed ones, a work tree's own over shared ones (gitrepository-layout(5)). */
async function readReference({ gitFolder, commonFolder }: Repository, name: string): Promise<string | undefined> {
  for (const folder of new Set([gitFolder, commonFolder])) {
    const loose = await readBounded(join(folder, name), MOST_REFERENCE_BYTES);
    if (loose !== undefined) return loose.toString().trim();
    if (name === 'HEAD') return undefined;
  }
  const packedRefs = await readBounded(join(commonFolder, 'packed-refs'), MOST_PACKED_BYTES);
  const line = packedRefs
    ?.toString()
    .split('\n')
    .find((text) => text.endsWith(` ${name}`));
  return line?.slice(0, line.indexOf(' '));
}
