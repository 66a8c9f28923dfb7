import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FlowReader } from '../../../../src/flows/project/flowReader.ts';

test('texts of open documents count, in all files that use them, and the disk again when they are closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-reader-'));
  try {
    const [main, nodes] = [join(folder, 'main.mjs'), join(folder, 'nodes.mjs')];
    const text = `import { Flow } from 'farwharf/agents';
import { Work } from './nodes.mjs';
const work = new Work();
export const flow = new Flow({ start: work }).connect(work, null, 'done');
`;
    const onDisk =
      "import { Node } from 'farwharf/agents';\nexport class Work extends Node { post() { return 'done'; } }\n";
    await writeFile(main, text);
    await writeFile(nodes, onDisk);
    const reader = new FlowReader();
    const codes = (): string[] => reader.diagnose(main).map(({ code }) => code);
    assert.deepEqual(codes(), []);
    reader.setText(nodes, onDisk.replace("'done'", "'other'"), 2);
    assert.deepEqual(codes(), ['unconnected-action', 'unused-connection']);
    const place = text.indexOf("'done'") + 1;
    assert.equal(reader.symbol(main, place)?.name, 'done');
    assert.deepEqual(
      reader.complete(main, text.indexOf("'done'") + 1).map(({ label }) => label),
      ['other'],
    );
    assert.equal(reader.neighbours(main, text.indexOf('work,')).length, 1);
    reader.closeText(nodes);
    assert.deepEqual(codes(), []);
    const renamed = reader.rename(main, place, 'ready');
    assert.deepEqual(renamed.ok && renamed.edits.map(({ range }) => range.file).sort(), [main, nodes]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
