import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ActionOf,
  batchNode,
  type Checkpoint,
  Flow,
  Node,
  node,
  ParallelBatchNode,
  pause,
  PausedError,
  recordedModel,
  type TraceEvent,
} from '../../../../src/agents/index.ts';

interface Pages {
  pages: string[];
  summaries: string[];
  summary: string;
}

const model = recordedModel({ 'Join:': 'Both are deep.', Oslo: 'Oslo is deep.', Bergen: 'Bergen is deep.' });
const map = batchNode({
  prep: (shared: Pages) => shared.pages,
  exec: (page) => model.ask(`Summarise: ${page}`),
  post: (shared, _pages, summaries) => void (shared.summaries = summaries),
});
const reduce = node({
  prep: (shared: Pages) => shared.summaries.join('\n'),
  exec: (text) => model.ask(`Join: ${text}`),
  post: (shared, _text, summary) => void (shared.summary = summary),
});
const flow = new Flow({ start: map }).connect(map, reduce).connect(reduce, null);

test('nodes of functions run as nodes of classes do', async () => {
  const shared = { pages: ['Oslo', 'Bergen'], summaries: [], summary: '' };
  const paths: string[] = [];
  await flow.run(shared, { onEvent: ({ type, path }) => void (type === 'node-start' && paths.push(path)) });
  assert.deepEqual(shared.summaries, ['Oslo is deep.', 'Bergen is deep.']);
  assert.equal(shared.summary, 'Both are deep.');
  assert.deepEqual(paths, ['Flow/ParallelBatchNode', 'Flow/Node']);
  assert.ok(map instanceof ParallelBatchNode && reduce instanceof Node);
});

test('the types of a node of functions follow from its first hook, and its actions are checked', () => {
  const route = node({
    name: 'Route',
    prep: (shared: Pages) => shared.pages.length,
    exec: async (count) => count > 1,
    post: (_shared, count, isLong) => (isLong && count > 2 ? 'split' : 'read'),
  });
  const actions: ActionOf<typeof route>[] = ['split', 'read'];
  const end = node({ post: (shared: Pages) => void (shared.summary = '') });
  const checked = new Flow<Pages>({ start: route }).connect(route, end, 'split').connect(route, null, 'read');
  // @ts-expect-error -- it returns no such action
  checked.connect(route, null, 'splitt');
  // @ts-expect-error -- exec gets the number that prep returned
  node({ prep: (shared: Pages) => shared.pages.length, exec: (count) => encodeURIComponent([count]) });
  assert.equal(actions.length, 2);
});

test('retries, fallback, pause and answer are options and hooks of functions', async () => {
  let attempts = 0;
  const asking = node({
    name: 'Ask',
    maxRetries: 2,
    exec: (): string => {
      attempts += 1;
      throw new Error('down');
    },
    execFallback: (_input, error) => `failed: ${error instanceof Error ? error.message : ''}`,
    post: (shared: { text?: string }, _input, text) => {
      shared.text = text;
      return pause({ question: 'Go on?' });
    },
    answer: (_shared, input) => (input === 'yes' ? 'go' : 'stop'),
  });
  const asked = new Flow<{ text?: string }>({ start: asking })
    .connect(asking, null, 'go')
    .connect(asking, null, 'stop');
  const shared: { text?: string } = {};
  const stopped: unknown = await asked.run(shared).catch((error: unknown) => error);
  assert.ok(stopped instanceof PausedError, String(stopped));
  assert.deepEqual([attempts, shared.text], [2, 'failed: down']);
  const resume = JSON.parse(JSON.stringify(stopped.checkpoint)) as Checkpoint;
  assert.equal(await asked.run({}, { resume, input: 'yes' }), 'go');
});

test('a recording knows the code of a function by its text', async () => {
  const kept: string[] = [];
  const record = { keep: ({ code }: { readonly code: string }): void => void kept.push(code) };
  const events: TraceEvent[] = [];
  await node({ exec: () => 'one' }).run({}, { record, onEvent: (event) => void events.push(event) });
  assert.match(kept[0] ?? '', /'one'/);
});

test('a definition that is not valid is refused', () => {
  const wrong: object = { maxRetry: 1 };
  assert.throws(() => node(wrong), /node has no option maxRetry. Did you mean maxRetries\?/);
  assert.throws(() => node({ exec: 'x' } as never), /The option exec of node must be a function, not the string "x"/);
  assert.throws(() => batchNode({ concurrency: 0 }), RangeError);
  assert.throws(() => node({ concurrency: 2 } as never), /node has no option concurrency/);
});
