import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');

interface LockedPackage {
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

for (const file of ['package-lock.json', 'bench/package-lock.json']) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockedPackage>> };

  // An `npm install` forgets those that the registry at hand does not have, and then `npm ci` refuses the lock file.
  test(`${file} has the packages of every platform, not only of the one that wrote it`, () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      ),
    );
    assert.deepEqual(missing, []);
  });

  // Of other platforms' packages npm knows no hash where the registry at hand does not have them.
  test(`${file} names packages by their hash, and no registry`, () => {
    assert.doesNotMatch(text, /"resolved"/);
    const unknown = Object.entries(packages).filter(
      ([path, { integrity, optional }]) => path !== '' && integrity === undefined && optional !== true,
    );
    assert.deepEqual(unknown, []);
  });
}

// They are loaded by name, so that bench/ can be checked without them.
test('every package that a measurement loads is in bench/package.json, and no other', () => {
  const bench = join(ROOT, 'bench');
  const sources = readdirSync(bench, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.includes('node_modules'),
  );
  const loaded = sources.flatMap((path) =>
    [...readFileSync(join(bench, path), 'utf8').matchAll(/peerPackage\('([^']+)'\)/g)].map(([, name = '']) => name),
  );
  const { dependencies } = JSON.parse(readFileSync(join(bench, 'package.json'), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  };
  const needed = Object.keys(dependencies).filter((name) => name !== '@langchain/core'); // LangGraph's own peer
  assert.deepEqual([...new Set(loaded)].toSorted(), needed.toSorted());
});
