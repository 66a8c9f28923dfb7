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

/** A file with a flow of so many nodes in a row. */
function chainOf(count: number): string {
  const lines = ["import { Flow, Node } from 'farwharf/agents';"];
  for (let index = 0; index < count; index += 1) {
    lines.push(`class Step${index} extends Node { post(shared) { shared.key${index} = 1; return 'next'; } }`);
    lines.push(`const step${index} = new Step${index}();`);
  }
  lines.push('export const flow = new Flow({ start: step0 });');
  for (let index = 1; index < count; index += 1) lines.push(`flow.connect(step${index - 1}, step${index}, 'next');`);
  return `${lines.join('\n')}\n`;
}

test('one keystroke at 200 nodes is one reading for canvas, problems, completions, hover and rename together', () => {
  const file = '/flows/chain.mjs';
  const text = chainOf(200);
  const reader = new FlowReader();
  reader.setText(file, text, 1);
  reader.read(file);
  assert.equal(reader.evaluations, 1);
  const typed = `${text}flow.connect(step199, null, 'next');`;
  const place = typed.lastIndexOf("'next'") + 1;
  reader.setText(file, typed, 2);
  const [flow] = reader.read(file).flows;
  assert.deepEqual([flow?.nodes.length, flow?.edges.length], [200, 200]);
  assert.equal(reader.read(file).flows[0], flow);
  assert.deepEqual(reader.diagnose(file), []);
  assert.deepEqual(
    reader.complete(file, place).map(({ label }) => label),
    ['next'],
  );
  assert.equal(reader.neighbours(file, typed.lastIndexOf('step199')).length, 1);
  assert.equal(reader.symbol(file, place)?.name, 'next');
  assert.equal(reader.rename(file, place, 'done').ok, true);
  assert.equal(reader.evaluations, 2);
});
