import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestCopy } from '../../../scripts/mutations/testCopy.ts';

const RUNNER = 'scripts/mutations/runTests.ts';
const ORIGINAL = 'export const isChanged = false;\n';
const SOURCE = { path: 'src/a.ts', original: ORIGINAL, changed: 'export const isChanged = true;\n' };
const READS_SHARED = `import { readFileSync } from 'node:fs';
import { test } from 'node:test';
test('the shared file is whole', () => { if (readFileSync('shared.txt', 'utf8') !== 'whole') throw new Error('damaged'); });
`;

for (const [damage, statement] of [
  ['writes as many bytes to another file', "writeFileSync('shared.txt', 'ruins')"],
  ['removes the folder of the sources', "rmSync('src', { recursive: true })"],
] as const) {
  test(`a test that ${damage} does not decide about the next mutant`, async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'farwharf-copied-'));
    t.after(async () => rm(root, { recursive: true, force: true }));
    for (const folder of ['src', 'test', 'scripts/mutations']) await mkdir(join(root, folder), { recursive: true });
    await cp(join(import.meta.dirname, '../../..', RUNNER), join(root, RUNNER));
    await writeFile(join(root, 'package.json'), '{"type":"module"}');
    await writeFile(join(root, 'shared.txt'), 'whole');
    await writeFile(join(root, SOURCE.path), ORIGINAL);
    await writeFile(join(root, 'test/shared.test.ts'), READS_SHARED);
    await writeFile(
      join(root, 'test/a.test.ts'),
      `import { rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { isChanged } from '../src/a.ts';
test('a', () => { if (isChanged) ${statement}; });
`,
    );
    const copy = await TestCopy.create(root);
    t.after(async () => copy.dispose());

    assert.equal(await copy.isNoticed(['test/shared.test.ts'], { ...SOURCE, changed: '(' }), false);
    assert.equal(await copy.isNoticed(['test/a.test.ts'], { ...SOURCE, changed: '(' }), true);
    assert.equal(await copy.isNoticed(['test/a.test.ts', 'test/shared.test.ts'], SOURCE), false);
    assert.equal(await readFile(join(copy.folder, 'shared.txt'), 'utf8'), 'whole');
    assert.equal(await readFile(join(copy.folder, SOURCE.path), 'utf8'), ORIGINAL);
  });
}
