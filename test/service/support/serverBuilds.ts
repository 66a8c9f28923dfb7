import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a later version of the package differs from this one. */
export interface LaterVersion {
  readonly version: string;
  /** Whether it changes the format of the store when it first opens one. */
  readonly changesStore?: boolean;
  /** Whether its service exits at the start, after it has opened the store. */
  readonly isBroken?: boolean;
}

// The end of the list of steps that upgrade a store, in the built program.
const LAST_STEP = /(\$\{\w+\}\n {2}`(?:,"")*)\]/;

/** Unpacks the package of a tarball, changes it, and packs it as a later version; returns the path of the new tarball. */
export function laterVersion(
  tarball: string,
  folder: string,
  { version, changesStore, isBroken }: LaterVersion,
): string {
  const root = join(folder, version);
  mkdirSync(root, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', root]);
  const change = (path: string, edit: (text: string) => string): void => {
    const file = join(root, 'package', path);
    const before = readFileSync(file, 'utf8');
    const after = edit(before);
    if (after === before) throw new Error(`Nothing to change in ${path}.`);
    writeFileSync(file, after);
  };
  change('package.json', (text) => text.replace(/"version": "[^"]+"/, `"version": "${version}"`));
  if (changesStore === true) {
    const chunks = readdirSync(join(root, 'package/dist/chunks')).map((name) => join('dist/chunks', name));
    const store = chunks.find((path) => LAST_STEP.test(readFileSync(join(root, 'package', path), 'utf8')));
    if (store === undefined) throw new Error('No part of the program upgrades stores.');
    change(store, (text) => text.replace(LAST_STEP, '$1,"SELECT 1"]'));
  }
  if (isBroken === true) {
    cpSync(join(root, 'package/dist/cli.mjs'), join(root, 'package/dist/working.mjs'));
    const start = `if (process.argv[2] === 'serve' && !process.argv.includes('--check')) {
      const { execFileSync } = await import('node:child_process');
      const working = import.meta.filename.replace(/cli.mjs$/, 'working.mjs');
      execFileSync(process.execPath, [working, 'admin', 'account', 'list', '--data', '/var/lib/farwharf']);
      console.error('This version is broken.');
      process.exit(1);
    }
    await import('./working.mjs');`;
    change('dist/cli.mjs', () => `#!/usr/bin/env node\n${start}\n`);
  }
  const result = join(folder, `farwharf-${version}.tgz`);
  execFileSync('tar', ['-czf', result, '-C', root, 'package']);
  return result;
}
