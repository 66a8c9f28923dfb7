// Flows of items and branches through the built command: recorded, replayed, restarted, pinned and answered.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Scratch } from './commandLine.ts';

const ESSAYS = `import { BatchFlow, Flow, Node, ParallelBatchFlow, ParallelFlow, pause } from 'farwharf/agents';
const wait = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
class Split extends Node {
  prep({ item }) { return item; }
  async exec(text) { await wait(); if (text === 'bad') throw new Error('no words'); return text.split(' '); }
  post(state, _text, words) { state.words = words; }
}
class Count extends Node {
  prep({ words }) { return words; }
  exec(words) { return words.length; }
  post(state, _words, length) {
    state.length = length;
    return state.ask ? pause({ question: 'Count ' + state.item + '?' }) : undefined;
  }
  answer(state, input) { state.length = Number(input); }
}
class Total extends Node {
  constructor(name, sum) { super({ name }); this.sum = sum; }
  prep({ lengths }) { return lengths; }
  async exec(lengths) { await wait(); return this.sum(lengths); }
  post(shared, _lengths, result) { shared.result = result; }
}
class Each extends BatchFlow {
  prep({ texts }) { return texts; }
  post(shared, _texts, states) { shared.lengths = states.map(({ length }) => length); }
}
class Beside extends ParallelBatchFlow {
  prep({ texts }) { return texts; }
  post(shared, _texts, states) { shared.lengths = states.map(({ length }) => length); }
}
class Both extends ParallelFlow {
  merge(shared, { sum, most }) { shared.report = sum.result + ' words, at most ' + most.result; }
}
const [split, count] = [new Split(), new Count()];
const each = new EACH({ start: split, name: 'each' }).connect(split, count).connect(count, null);
const both = new Both({ branches: {
  sum: new Total('Sum', (lengths) => lengths.reduce((a, b) => a + b, 0)),
  most: new Total('Most', (lengths) => Math.max(...lengths)),
} });
export const essays = new Flow({ start: each, name: 'Essays' }).connect(each, both).connect(both, null);
`;
const TEXTS = '{"texts":["a b","c d e","f"]}';

const linesOf = ({ stdout }: { readonly stdout: string }): unknown[] =>
  stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

describe('flows of items and branches', { concurrency: 2, timeout: 5 * 60_000 }, () => {
  for (const form of ['Each', 'Beside']) {
    it(`${form} is recorded, replayed, pinned and tested, whatever ends first`, async () => {
      await using scratch = await Scratch.create();
      const cwd = await scratch.folder('flows', { 'essays.mjs': ESSAYS.replace('EACH', form) });
      const first = await scratch.run(['flow', 'run', 'essays.mjs', '--shared', TEXTS, '--json'], { cwd });
      assert.equal(first.exit, 0, first.stderr);
      const end = linesOf(first).at(-1) as { outcome: { shared: unknown } };
      assert.deepEqual(end.outcome.shared, {
        texts: ['a b', 'c d e', 'f'],
        lengths: [2, 3, 1],
        report: '6 words, at most 3',
      });
      const again = await scratch.run(['flow', 'run', 'essays.mjs', '--replay', 'last'], { cwd });
      assert.equal(again.stderr.match(/Essays\/each\[\d\]\/(?:Split|Count) .*recorded/g)?.length, 6, again.stderr);
      assert.equal(again.stderr.match(/Essays\/Both\/(?:sum|most) .*recorded/g)?.length, 2, again.stderr);

      assert.equal((await scratch.run(['flow', 'pin', 'essays.mjs'], { cwd })).exit, 0);
      const passed = await scratch.run(['flow', 'test'], { cwd });
      assert.equal(passed.exit, 0, passed.stdout);
      await writeFile(
        join(cwd, 'essays.mjs'),
        ESSAYS.replace('EACH', form).replace('words.length;', 'words.length + 1;'),
      );
      const failed = await scratch.run(['flow', 'test'], { cwd });
      assert.equal(failed.exit, 1);
      assert.match(failed.stdout, /Essays\/each\[2\]\/Count ran live: its code changed/);
      assert.match(failed.stdout, /- 1\n\s+\+ 2/);
    });

    it(`${form} fails with the item, its node and the line, and waits in the middle of an item`, async () => {
      await using scratch = await Scratch.create();
      const cwd = await scratch.folder('flows', { 'essays.mjs': ESSAYS.replace('EACH', form) });
      const shared = '{"texts":["a b","bad"]}';
      const failed = await scratch.run(['flow', 'run', 'essays.mjs', '--shared', shared], { cwd });
      assert.equal(failed.exit, 1);
      assert.match(
        failed.stderr,
        /failed at Essays\/each\[1\]\/Split: each\[1\] failed: no words \(.*essays\.mjs:5:\d+\)/,
      );
      const asking = '{"texts":["a b","c"],"ask":true}';
      const waiting = await scratch.run(['flow', 'run', 'essays.mjs', '--shared', asking, '--json'], { cwd });
      const { run, outcome } = linesOf(waiting).at(-1) as { run: string; outcome: { type: string; question: string } };
      assert.equal(outcome.question, 'Count a b?');
      const second = await scratch.run(['flow', 'answer', run, '--input', '10', '--json'], { cwd });
      const next = linesOf(second).at(-1) as { run: string; outcome: { question: string } };
      assert.equal(next.outcome.question, 'Count c?');
      const last = await scratch.run(['flow', 'answer', next.run, '--input', '20', '--json'], { cwd });
      const { outcome: done } = linesOf(last).at(-1) as { outcome: { shared: { report: string } } };
      assert.equal(done.shared.report, '30 words, at most 20');
    });
  }

  it('a run starts again in the middle of an item, with the states of the items before', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'essays.mjs': ESSAYS.replace('EACH', 'Each') });
    await scratch.run(['flow', 'run', 'essays.mjs', '--shared', TEXTS], { cwd });
    const from = ['flow', 'run', 'essays.mjs', '--from', 'Essays/each[1]/Count', '--json'];
    const events = linesOf(await scratch.run(from, { cwd })) as { type: string; path?: string; changes?: unknown }[];
    const begun = events.flatMap(({ type, path }) => (type === 'node-start' ? [path] : []));
    assert.deepEqual(begun.slice(0, 3), ['Essays/each[1]/Count', 'Essays/each[2]/Split', 'Essays/each[2]/Count']);
    const { outcome } = events.at(-1) as unknown as { outcome: { shared: { lengths: number[] } } };
    assert.deepEqual(outcome.shared.lengths, [2, 3, 1]);
    const changed = events.flatMap(({ type, changes }) => (type === 'state' ? [JSON.stringify(changes)] : []));
    assert.match(
      changed[0] ?? '',
      /"Essays\/each\[1\]"\],"value":\{"item":"c d e","words":\["c","d","e"\],"length":3\}/,
    );
    assert.match(changed[1] ?? '', /"op":"remove","path":\["Essays\/each\[1\]"\]/);
  });
});
