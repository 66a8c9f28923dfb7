import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

const AGENT = `import { Flow, Node } from 'pocketflow';
class Count extends Node<{ count: number }> {
  async post(shared: { count: number }): Promise<string> {
    shared.count += 1;
    return shared.count < 3 ? 'again' : 'default';
  }
}
class Double extends Node<{ count: number }> {
  async post(shared: { count: number }): Promise<undefined> {
    shared.count *= 2;
  }
}
const count = new Count(2), double = new Double();
count.on('again', count).next(double);
export const flow = new Flow(count);
`;

test('a flow of PocketFlow is shown as a patch, written with --write, and then runs', async () => {
  await using scratch = await Scratch.create();
  const cwd = await scratch.folder('flows', { 'agent.ts': AGENT, 'hand.ts': `${AGENT}flow.setParams({});\n` });
  await chmod(join(cwd, 'agent.ts'), 0o640);
  const shown = await scratch.run(['flow', 'migrate', 'agent.ts', 'hand.ts'], { cwd });
  assert.equal(shown.exit, 0, shown.stderr);
  assert.match(shown.stdout, /^--- agent\.ts\n\+\+\+ agent\.ts\n/m);
  assert.match(shown.stdout, /^-count\.on\('again', count\)\.next\(double\);\n/m);
  assert.match(shown.stdout, /^\+ {2}\.connect\(count, count, 'again'\)\n/m);
  assert.match(shown.stderr, /^hand\.ts:16:6: setParams: there are no params/m);
  assert.match(shown.stderr, /2 files to change, 1 place to change by hand\nNothing was written/);
  assert.equal(await readFile(join(cwd, 'agent.ts'), 'utf8'), AGENT);

  const written = await scratch.run(['flow', 'migrate', 'agent.ts', '--write', '--json'], { cwd });
  const [first] = jsonLines(written.stdout);
  assert.deepEqual([first?.['file'], first?.['changed'], first?.['unconverted']], ['agent.ts', true, []]);
  assert.equal((await stat(join(cwd, 'agent.ts'))).mode & 0o777, 0o640);
  const run = await scratch.run(['flow', 'run', 'agent.ts', '--shared', '{"count":0}', '--json'], { cwd });
  const end = jsonLines(run.stdout).at(-1) as { outcome: { type: string; shared: unknown } };
  assert.deepEqual([end.outcome.type, end.outcome.shared], ['done', { count: 6 }], run.stderr);
  const check = await scratch.run(['flow', 'check', 'agent.ts'], { cwd });
  assert.match(check.stderr, /1 flow: 0 errors, 0 warnings/);

  await writeFile(join(cwd, 'graph.ts'), "import { StateGraph } from '@langchain/langgraph/web';");
  const again = await scratch.run(['flow', 'migrate', 'agent.ts', 'graph.ts'], { cwd });
  assert.deepEqual([again.stdout, again.exit], ['', 0]);
  assert.match(again.stderr, /^agent\.ts: It does not use PocketFlow\.$/m);
  assert.match(again.stderr, /^graph\.ts: It uses LangGraph and has to be rewritten by hand: docs\/migration\.md/m);
  assert.match(again.stderr, /0 files to change/);
  assert.equal((await scratch.run(['flow', 'migrate', 'gone.ts'], { cwd })).exit, 2);
});

test('a flow whose classes are in another file is converted and runs, in whatever order the files are named', async () => {
  await using scratch = await Scratch.create();
  const [classes = '', wiring = ''] = AGENT.split('const count');
  const files = {
    'nodes.ts': classes.replace('Flow, ', '').replaceAll(/^class/gm, 'export class'),
    'agent.ts': `import { Flow } from 'pocketflow';\nimport { Count, Double } from './nodes.js';\nconst count${wiring}`,
  };
  for (const order of [Object.keys(files), Object.keys(files).reverse()]) {
    const cwd = await scratch.folder(order.join('-'), files);
    const { exit, stderr } = await scratch.run(['flow', 'migrate', ...order, '--write'], { cwd });
    assert.equal(exit, 0, stderr);
    assert.match(await readFile(join(cwd, 'agent.ts'), 'utf8'), /new Count\(\{ maxRetries: 2 \}\)/);
    const run = await scratch.run(['flow', 'run', 'agent.ts', '--shared', '{"count":0}', '--json'], { cwd });
    const end = jsonLines(run.stdout).at(-1) as { outcome: { type: string; shared: unknown } };
    assert.deepEqual([end.outcome.type, end.outcome.shared], ['done', { count: 6 }], run.stderr);
  }
});

test('the nodes of batch flows get their params and share one state, as in PocketFlow', async () => {
  await using scratch = await Scratch.create();
  const text = `const { BatchFlow, Flow, Node, ParallelBatchFlow } = require('pocketflow');
class Load extends Node {
  post(shared) {
    shared.seen ??= [];
    shared.seen.push(this._params.name);
  }
}
class Note extends Node {
  prep() { return this._params.name.length; }
  post(shared, length) { shared.letters = (shared.letters ?? 0) + length; }
}
class Each extends BatchFlow {
  prep({ names }) { return names.map((name) => ({ name })); }
}
class Beside extends ParallelBatchFlow {
  prep({ others }) { return others.map((name) => ({ name })); }
}
const load = new Load(), note = new Note();
load.next(note);
const each = new Each(load), beside = new Beside(load);
each.next(beside);
module.exports = { flow: new Flow(each) };
`;
  const cwd = await scratch.folder('batches', { 'each.cjs': text });
  const written = await scratch.run(['flow', 'migrate', 'each.cjs', '--write', '--json'], { cwd });
  assert.deepEqual(jsonLines(written.stdout)[0]?.['unconverted'], [], written.stderr);
  const shared = '{"names":["Oslo","Bergen"],"others":["Voss","Narvik"]}';
  const run = await scratch.run(['flow', 'run', 'each.cjs', '--shared', shared, '--json'], { cwd });
  const end = jsonLines(run.stdout).at(-1) as { outcome: { shared?: { seen: string[]; letters: number } } };
  assert.deepEqual(end.outcome.shared?.seen, ['Oslo', 'Bergen', 'Voss', 'Narvik'], run.stderr);
  assert.equal(end.outcome.shared.letters, 20);
});
