import { createHash } from 'node:crypto';
import { cp, readFile, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { CodeServer } from './install.ts';
import { installOnce } from './installOnce.ts';
import { installExtension } from './server.ts';

const INSTALLED = resolve(import.meta.dirname, '../../out/installed');

/**
 * Copies the packed extension, as this code-server installs it, into the profile of a window that is not open yet. All windows share one
 * installation: its installer takes code-server longer than the start of the server itself.
 *
 * @param log receives a line for a person while another process installs the same.
 */
export async function copyInstalledExtension(
  codeServer: CodeServer,
  { vsix, userData, log }: { readonly vsix: string; readonly userData: string; readonly log: (line: string) => void },
): Promise<void> {
  const digest = createHash('sha256')
    .update(await readFile(vsix))
    .digest('hex');
  const prefix = `${codeServer.release.codeServer}-`;
  const name = `${prefix}${digest.slice(0, 16)}`;
  const installed = await installOnce(join(INSTALLED, name), log, async (partial) => {
    for (const other of await readdir(INSTALLED))
      if (other.startsWith(prefix) && !other.startsWith(name)) await rm(join(INSTALLED, other), { recursive: true });
    await installExtension(codeServer, vsix, { userData: partial });
  });
  // Its list of extensions names their folders relative to its own.
  await cp(join(installed, 'extensions'), join(userData, 'extensions'), { recursive: true });
}
