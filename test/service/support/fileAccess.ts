import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

const CALLS = ['open', 'stat', 'lstat', 'readFile', 'readdir', 'utimes', 'link', 'mkdir', 'rm', 'writeFile'] as const;

/**
 * Records what this process, with the services in it, does with files until the test ends.
 *
 * @returns the name of each call and its path, in order; the list grows.
 */
export function recordFileAccess(t: TestContext): readonly string[] {
  const access: string[] = [];
  for (const name of CALLS) {
    const original = fs[name] as (...args: readonly unknown[]) => unknown;
    t.mock.method(fs, name, (...args: readonly unknown[]) => {
      access.push(`${name} ${String(args[0])}`);
      return original(...args);
    });
  }
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return access;
}
