import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { currentLine } from '../../../../src/jobs/source/currentLine.ts';
import { packSelection } from '../../../../src/workspace/pack/pack.ts';
import { selectFiles } from '../../../../src/workspace/select/selection.ts';

const SUBMITTED = 'import sys\n\ndef main():\n    return run()\n\nmain()\n';

async function submitted(
  t: TestContext,
): Promise<{ archive: string; file: string; at: (line: number) => ReturnType<typeof currentLine> }> {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-source-'));
  const outside = mkdtempSync(join(tmpdir(), 'farwharf-archive-'));
  t.after(() => [folder, outside].forEach((path) => rmSync(path, { recursive: true })));
  const file = join(folder, 'train.py');
  writeFileSync(join(folder, 'a.txt'), 'before\n');
  writeFileSync(file, SUBMITTED);
  writeFileSync(join(folder, 'z.txt'), 'after\n');
  const archive = join(outside, 'submitted.tar.gz');
  await packSelection(await selectFiles(folder, { isTrusted: true }), archive);
  return { archive, file, at: (line) => currentLine({ archive, path: 'train.py', line }, { file, text: undefined }) };
}

test('a line of an unchanged file is where it was', async (t) => {
  const { at } = await submitted(t);
  assert.deepEqual(await at(4), { line: 4, isDeleted: false });
});

test('a line below an inserted one, and one with other line ends, has moved', async (t) => {
  const { file, at } = await submitted(t);
  writeFileSync(file, `# new\n# lines\n${SUBMITTED}`.replaceAll('\n', '\r\n'));
  assert.deepEqual(await at(4), { line: 6, isDeleted: false });
  assert.deepEqual(await at(1), { line: 3, isDeleted: false });
});

test('the text of an unsaved editor counts before that of the file', async (t) => {
  const { archive, file } = await submitted(t);
  const moved = await currentLine({ archive, path: 'train.py', line: 4 }, { file, text: `# new\n${SUBMITTED}` });
  assert.deepEqual(moved, { line: 5, isDeleted: false });
});

test('a line that was deleted or changed is where it stood', async (t) => {
  const { file, at } = await submitted(t);
  writeFileSync(file, SUBMITTED.replace('    return run()\n', ''));
  assert.deepEqual(await at(4), { line: 4, isDeleted: true });
  writeFileSync(file, SUBMITTED.replace('run()', 'walk()'));
  assert.deepEqual(await at(4), { line: 4, isDeleted: true });
  assert.deepEqual(await at(6), { line: 6, isDeleted: false });
  assert.deepEqual(await at(900), { line: 7, isDeleted: true });
});

test('without the archive, the file in it, or the file in the folder nothing is known', async (t) => {
  const { archive, file, at } = await submitted(t);
  assert.equal(await currentLine({ archive, path: 'other.py', line: 1 }, { file, text: undefined }), undefined);
  rmSync(file);
  assert.equal(await at(1), undefined);
  writeFileSync(file, SUBMITTED);
  rmSync(archive);
  assert.equal(await at(1), undefined);
});

test('texts that differ in every line are given up instead of compared for long', async (t) => {
  const { file, at } = await submitted(t);
  writeFileSync(file, Array.from({ length: 200_000 }, (_, index) => `line ${index}`).join('\n'));
  const found = await at(4);
  assert.ok(found === undefined || found.isDeleted);
});

test('an abort ends the search with its reason', async (t) => {
  const { archive, file } = await submitted(t);
  const reason = new Error('closed');
  await assert.rejects(
    currentLine({ archive, path: 'train.py', line: 1 }, { file, text: undefined }, AbortSignal.abort(reason)),
    reason,
  );
});
