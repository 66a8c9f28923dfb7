import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

// An `npm install` forgets those that the registry at hand does not have, and then `npm ci` refuses the lock file.
test('the lock file has the packages of every platform, not only of the one that wrote it', () => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>;
  };
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in lock.packages) && !(`${path}/node_modules/${name}` in lock.packages),
    ),
  );
  assert.deepEqual(missing, []);
});
