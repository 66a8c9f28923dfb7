import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import type { CodeServer } from './install.ts';

const RIPGREP = /^rg(\.exe)?$/;

/** A code-server as some distributions package it: without the program that VS Code finds files with. */
export interface PartialCodeServer extends CodeServer, AsyncDisposable {}

/** Makes it of an installed one, beside it, with hard links: a few seconds, and next to no space. */
export async function withoutRipgrep(codeServer: CodeServer): Promise<PartialCodeServer> {
  const folder = codeServer.entry.slice(0, codeServer.entry.lastIndexOf(`${sep}node_modules${sep}code-server${sep}`));
  const partial = await mkdtemp(`${folder}.no-ripgrep-`);
  const remove = (): Promise<void> => rm(partial, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  try {
    await linkTree(folder, partial);
    await tolerateAbsence(join(partial, 'node_modules', '@vscode', 'ripgrep', 'lib', 'index.js'));
  } catch (error) {
    await remove();
    throw error;
  }
  const moved = (path: string): string => join(partial, relative(folder, path));
  return {
    ...codeServer,
    node: moved(codeServer.node),
    entry: moved(codeServer.entry),
    [Symbol.asyncDispose]: remove,
  };
}

async function linkTree(source: string, target: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      await mkdir(to);
      await linkTree(from, to);
    } else if (entry.isSymbolicLink()) await symlink(await readlink(from), to);
    else if (!RIPGREP.test(entry.name)) await link(from, to);
  }
}

/**
 * The package that replaces VS Code's own in an older release (`Release.instead`) throws when it is loaded without the program, which ends
 * the extension host. VS Code's own only names the path.
 */
async function tolerateAbsence(index: string): Promise<void> {
  if (!existsSync(index)) return;
  await rm(index); // a hard link to the file of the installed one
  await writeFile(index, "export const rgPath = new URL('../bin/rg', import.meta.url).pathname;\n");
}
