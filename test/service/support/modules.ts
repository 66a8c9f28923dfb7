import { randomBytes } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { programsAreMissing } from '../../../scripts/programs.ts';

// Where Debian's package looks for modules.
const FOLDER = '/usr/share/modules/modulefiles';

/** Why this machine's nodes cannot load modules; undefined where they can. Root on Debian gets Environment Modules for it. */
export async function modulesAreMissing(): Promise<string | undefined> {
  const packages = ['environment-modules'];
  const missing = await programsAreMissing('Environment Modules', {
    programs: ['/usr/share/modules/init/bash'],
    packages,
  });
  if (missing !== undefined) return missing;
  try {
    accessSync(FOLDER, constants.W_OK);
    return undefined;
  } catch {
    return `${FOLDER} cannot be written`;
  }
}

/** Modules of this machine with a name of their own, which go away with their user. */
export class TestModules implements AsyncDisposable {
  readonly prefix = `fwtest-${randomBytes(4).toString('hex')}`;

  /** Adds a module. @returns its name. */
  async add(version: string, commands: string): Promise<string> {
    const name = `${this.prefix}/${version}`;
    const path = join(FOLDER, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `#%Module1.0\n${commands}\n`);
    return name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(join(FOLDER, this.prefix), { recursive: true, force: true });
  }
}
