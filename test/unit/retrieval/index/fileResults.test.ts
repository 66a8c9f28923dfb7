import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Index } from '../../../../src/retrieval/index/index.ts';
import type { NearChunk } from '../../../../src/retrieval/search/nearChunks.ts';
import { parseQuery } from '../../../../src/retrieval/search/query.ts';
import { countTokens, searchWithin } from '../../../../src/retrieval/index/tokenBudget.ts';
import { IndexedFolder } from '../indexedFolder.ts';

/** An index of these files, until the end of the test. */
async function indexOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<Index> {
  const folder = await IndexedFolder.create(files);
  t.after(() => folder[Symbol.asyncDispose]());
  return folder.index;
}

const lines = (count: number, line: string): string => `${line}\n`.repeat(count);
const method = (name: string, body: string): string => `function ${name}() {\n${lines(30, `  ${body}();`)}}\n\n`;

test('each file is one result with its best place, and lists its other places', async (t) => {
  const index = await indexOf(t, {
    'src/ship.ts': method('anchor', 'harbor') + method('sailHarbor', 'wind') + method('moor', 'harbor'),
    'src/wind.ts': method('blow', 'harbor'),
  });
  const hits = await index.search('harbor', 10);
  assert.deepEqual(hits.map(({ path }) => path).sort(), ['src/ship.ts', 'src/wind.ts']);
  const ship = hits.find(({ path }) => path === 'src/ship.ts');
  assert.equal(ship?.more?.length, 2);
  const places = await index.search('harbor', 10, { isByPlace: true });
  assert.equal(places.length, 4);
  assert.ok(places.every(({ more, reasons }) => more === undefined && reasons === undefined));
});

test('the best place of a file is the definition whose name says what the query asks for', async (t) => {
  const mentions =
    method('report', 'wind') + `function log() {\n${lines(30, "  write('retried the failed request again');")}}\n\n`;
  const index = await indexOf(t, {
    'src/client.ts': mentions + method('retryRequest', 'send') + method('close', 'harbor'),
    'src/other.ts': method('send', 'wind'),
  });
  const [first] = await index.search('how is a failed request retried', 10);
  assert.deepEqual([first?.path, first?.symbols], ['src/client.ts', ['retryRequest']]);
  const [line] = await index.search('src/client.ts:40 retry request', 10);
  assert.deepEqual([line?.path, line?.symbols], ['src/client.ts', ['log']], 'a line in the query says more');
});

test('a word that is still typed ranks as the whole word, if it is one, and also finds longer ones', async (t) => {
  const longer = 'harbormaster, harborside, harborward, harborless';
  const index = await indexOf(t, {
    'src/pier.ts': method('moor', 'harbor'),
    'src/coast.ts': `function moor() {\n${lines(15, `  list(${longer});`)}}\n`,
    'src/office.ts': method('open', 'harbormaster'),
    'src/doors.ts': Array.from({ length: 40 }, (_, at) => method(`open${at}`, 'door')).join(''),
  });
  const paths = async (query: string, isTyping: boolean): Promise<string[]> =>
    (await index.search(parseQuery(query, { isTyping }), 10, { isByPlace: true })).map(({ path }) => path);
  const whole = await paths('moor in the harbor', false);
  assert.deepEqual(whole, ['src/pier.ts', 'src/coast.ts']);
  assert.deepEqual(await paths('moor in the harbor', true), [...whole, 'src/office.ts']);
  assert.deepEqual((await paths('harb', true)).toSorted(), ['src/coast.ts', 'src/office.ts', 'src/pier.ts']);
});

test('what is close to a query in meaning gains by how close it is, and less than the words of the query give', async (t) => {
  const index = await indexOf(t, {
    'src/pier.ts': method('moor', 'harbor'),
    'src/quay.ts': method('tie', 'rope') + method('untie', 'rope'),
    'src/wind.ts': method('blow', 'harbor'),
  });
  const at = (path: string, ordinal: number, standardScore: number): NearChunk => ({
    path,
    ordinal,
    standardScore,
    hash: index.source(path)?.hash ?? '',
  });
  const paths = async (near: readonly NearChunk[], isByPlace = false): Promise<string[]> =>
    (await index.search('harbor', 10, { near, isByPlace })).map(({ path, startLine }) => `${path}:${startLine}`);
  for (const isByPlace of [false, true]) {
    const first = ['src/pier.ts:1', 'src/wind.ts:1'];
    assert.deepEqual(await paths([], isByPlace), first);
    const near = [at('src/quay.ts', 1, 4), at('src/wind.ts', 0, 3)];
    assert.deepEqual(await paths(near, isByPlace), [...first.toReversed(), 'src/quay.ts:34']);
    assert.deepEqual(await paths([at('src/quay.ts', 1, 20)], isByPlace), ['src/quay.ts:34', ...first]);
    assert.deepEqual(await paths([at('src/wind.ts', 0, -2)], isByPlace), first, 'nothing is taken away');
  }
  const [wind] = await index.search('harbor', 1, { near: [at('src/wind.ts', 0, 3)] });
  const { keywords = 0, meaning = 0 } = wind?.reasons ?? {};
  assert.ok(meaning > 0 && meaning < keywords, `${meaning} of ${keywords}`);
  const changed = { ...at('src/quay.ts', 1, 20), hash: 'of another text' };
  assert.ok(!(await paths([changed])).some((path) => path.startsWith('src/quay.ts')), 'the file has changed since');
});

test('a file with all words of a query comes before one with some of them often', async (t) => {
  const other = method('x', 'storm') + method('y', 'anchor');
  const others = Array.from({ length: 9 }, (_, at) => [`src/x${at}.ts`, other] as const);
  const index = await indexOf(t, {
    'src/one.ts': method('f', 'harbor') + method('g', 'storm') + method('h', 'harbor'),
    'src/two.ts': `function k() {\n${lines(8, '  harbor(storm, anchor);')}${lines(12, '  calm();')}}\n`,
    ...Object.fromEntries(others),
  });
  const hits = await index.search('harbor in a storm at anchor', 10);
  assert.equal(hits[0]?.path, 'src/two.ts');
});

test('a word in the names of many results says less than one in the name of a single file', async (t) => {
  const names = ['job', 'jobPage', 'jobRow', 'jobList', 'jobTree', 'jobLink', 'jobView', 'zone'];
  const text = method('f', 'job') + method('g', 'zone');
  const index = await indexOf(t, Object.fromEntries(names.map((name) => [`src/${name}.ts`, text])));
  const hits = await index.search('zone of a job', 10);
  const gains = new Map(hits.map(({ path, reasons }) => [path, reasons?.name ?? 0]));
  assert.ok((gains.get('src/job.ts') ?? 1) < 0.3 * (gains.get('src/zone.ts') ?? 0));
});

test('the words of a name in parts say as much as a name of one word', async (t) => {
  const text = method('f', 'atomic') + method('g', 'file') + method('h', 'single');
  const index = await indexOf(t, { 'src/atomicFile.ts': text, 'src/single.ts': text });
  const gain = async (query: string, path: string): Promise<number> => {
    const [hit] = await index.search(query, 10);
    assert.equal(hit?.path, path);
    return (hit?.reasons?.name ?? 0) / (hit?.reasons?.keywords ?? 1);
  };
  assert.equal(await gain('atomic file', 'src/atomicFile.ts'), await gain('single', 'src/single.ts'));
});

test('of methods with the same name, the best place of a file is the one in the class that the query names', async (t) => {
  const resetIn = (name: string, word: string): string =>
    `class ${name} {\n  reset() {\n${lines(20, `    ${word}();`)}  }\n}\n\n`;
  const index = await indexOf(t, { 'src/fleet.ts': resetIn('Harbor', 'ship') + resetIn('Ship', 'calm') });
  const [first] = await index.search('reset the ship', 10);
  assert.deepEqual([first?.symbols, first?.scope], [['reset'], ['Ship']]);
});

test('a file that is about a query in several places comes before one that mentions it once', async (t) => {
  const index = await indexOf(t, {
    'a.ts': method('one', 'harbor') + method('two', 'wind'),
    'b.ts': method('three', 'harbor') + method('four', 'harbor') + method('five', 'harbor'),
  });
  assert.deepEqual(
    (await index.search('harbor', 2)).map(({ path }) => path),
    ['b.ts', 'a.ts'],
  );
});

test('the definition that a query names comes first, whole, in parts or qualified, and by the case of its first letter', async (t) => {
  const uses = lines(20, 'const delay = retryDelay(retryDelay(1)); retry(delay);');
  const index = await indexOf(t, {
    'src/timing.ts': `export function retryDelay(n: number) {\n  return n;\n}\n`,
    'src/uses.ts': uses,
    'src/more.ts': uses,
    'src/types.ts': `export class Engine {\n  start() {}\n}\n`,
    'src/motors.ts': `export function engine() {\n${lines(10, '  return new Engine(engine);')}}\n`,
  });
  const first = async (query: string): Promise<string | undefined> => (await index.search(query, 5))[0]?.path;
  for (const query of [
    'retryDelay',
    'retry delay',
    'retry_delay',
    'timing.retryDelay',
    'Net::retryDelay',
    'retryDelay()',
  ])
    assert.equal(await first(query), 'src/timing.ts', query);
  assert.equal(await first('Engine'), 'src/types.ts');
  assert.equal(await first('engine'), 'src/motors.ts');
});

test('names that differ in their first letter, an underscore or a question mark are different definitions', async (t) => {
  const define = (name: string, keyword = 'function'): string => `${keyword} ${name} {\n  moor\n}\n`;
  const index = await indexOf(t, {
    'plain.js': define('anchor()'),
    'hidden.js': define('_anchor()'),
    'type.js': define('Anchor', 'class'),
    'asked.rb': 'def anchor?\n  moor\nend\n',
    'mate.js': define('ShipMate', 'class'),
    'long/shipMate.md': lines(30, 'The ship mate moors the ship; a mate of the ship.'),
  });
  const first = async (query: string): Promise<string | undefined> => (await index.search(query, 5))[0]?.path;
  assert.equal(await first('anchor'), 'plain.js');
  assert.equal(await first('_anchor'), 'hidden.js');
  assert.equal(await first('Anchor'), 'type.js');
  assert.equal(await first('anchor?'), 'asked.rb');
  // Words in lower case do not say whether they are a type's.
  assert.equal(await first('ship mate'), 'mate.js');
});

test('a common word that is the name of a definition finds it', async (t) => {
  const index = await indexOf(t, {
    'a.js': 'function get(key) {\n  return store[key];\n}\n',
    'b.js': lines(30, 'get(get(get(1)));'),
  });
  assert.equal((await index.search('get', 5))[0]?.path, 'a.js');
});

test('sources come before tests and generated files, unless the query is about those', async (t) => {
  const text = method('sail', 'harbor');
  const index = await indexOf(t, {
    'a.test.ts': text + text,
    'dist/a.js': text + text,
    'src/long.ts': `${lines(40, 'calm();')}${text}`,
  });
  const paths = async (query: string): Promise<string[]> => (await index.search(query, 5)).map(({ path }) => path);
  assert.equal((await paths('sail harbor'))[0], 'src/long.ts');
  assert.equal((await paths('sail harbor'))[2], 'dist/a.js');
  assert.equal((await paths('tests of sail harbor'))[0], 'a.test.ts');
  assert.equal((await paths('sail harbor path:dist'))[0], 'dist/a.js');
});

test('a budget of tokens is filled with whole definitions', async (t) => {
  const long = `function sailHarbor() {\n${lines(60, '  harbor(); // with words that make it longer than a chunk is')}}\n`;
  const index = await indexOf(t, { 'src/long.ts': long, 'src/short.ts': method('moorHarbor', 'rope') });
  const whole = await searchWithin(index, 'sail harbor', { maxTokens: 20_000 });
  assert.equal(whole[0]?.text, long.trimEnd());
  assert.deepEqual([whole[0]?.startLine, whole[0]?.endLine, whole[0]?.isPartial], [1, 62, false]);
  for (const maxTokens of [1, 100, 400, 700, 1500]) {
    const hits = await searchWithin(index, 'sail harbor', { maxTokens });
    const sum = hits.reduce((total, { text }) => total + countTokens(text), 0);
    assert.ok(sum <= maxTokens, `${sum} of ${maxTokens}`);
    for (const { isPartial, path } of hits) assert.equal(isPartial, path === 'src/long.ts' && maxTokens < 2500);
  }
});

test('a file that a program writes comes after those that people write, unless the query asks for it', async (t) => {
  const body = method('parseHarbor', 'harbor');
  const index = await indexOf(t, {
    'src/parser.ts': `// Code generated by a parser generator. DO NOT EDIT.\n${body}${method('parse', 'harbor')}`,
    'src/harbors.ts': method('list', 'harbor'),
  });
  const paths = async (query: string): Promise<string[]> => (await index.search(query, 10)).map(({ path }) => path);
  assert.deepEqual(await paths('harbor parser'), ['src/harbors.ts', 'src/parser.ts']);
  assert.deepEqual(await paths('generated harbor parser'), ['src/parser.ts', 'src/harbors.ts']);
  assert.equal(index.stats.files, 2, 'both count as indexed');
});

test('an implementation comes before the header that declares it', async (t) => {
  const index = await indexOf(t, {
    'include/buffer.h': `/* Moves the oldest harbor. */\nvoid moor(int harbor);\n`,
    'src/buffer.c': `/* Moves the oldest harbor. */\nvoid moor(int harbor) { push(wind, harbor); }\n`,
    'include/only.h': '/* Opens a gate. */\nstatic inline void gate(void) {}\n',
  });
  const first = async (query: string): Promise<string | undefined> => (await index.search(query, 10))[0]?.path;
  assert.equal(await first('move the oldest harbor'), 'src/buffer.c');
  assert.equal(await first('open a gate'), 'include/only.h');
});

test('the name of a file is also found by its second word, where none is marked', async (t) => {
  const index = await indexOf(t, {
    'src/autovacuum.c': `void start(void) {\n${lines(12, '  vacuum(table, wind);')}}\n`,
    'src/rows.c': `void list(void) {\n${lines(12, '  vacuum(table, table);')}}\n`,
  });
  assert.equal((await index.search('when is a table vacuumed', 10))[0]?.path, 'src/autovacuum.c');
});

test('a word with which the names of many files end says little about one of them', async (t) => {
  const other = `def keep(rows):\n    sort(matrix)\n${lines(12, '    wind(rows)')}`;
  const index = await indexOf(t, {
    'src/order.py': `def order(rows):\n${lines(12, '    sort(matrix)')}`,
    ...Object.fromEntries(
      ['block', 'domain', 'dense', 'rep', 'sparse', 'sub'].map((kind) => [`src/${kind}matrix.py`, other]),
    ),
  });
  assert.equal((await index.search('sort a matrix', 10))[0]?.path, 'src/order.py');
});

test('two words with a slash between them are not a path, unless a file has both', async (t) => {
  const index = await indexOf(t, {
    'src/parse.ts': method('parse', 'harbor'),
    'src/client/error.ts': method('wind', 'sail'),
    'setup.ts': method('wind', 'sail'),
  });
  const mentioned = async (query: string): Promise<string[]> =>
    (await index.search(query, 10)).flatMap(({ path, reasons }) => ((reasons?.mention ?? 0) > 0 ? [path] : []));
  assert.deepEqual(await mentioned('returns a success/error result for a harbor'), []);
  assert.deepEqual(await mentioned('client/error of a harbor'), ['src/client/error.ts']);
  assert.deepEqual(await mentioned('app/error.ts of a harbor'), ['src/client/error.ts'], 'a name with its extension');
  assert.deepEqual(await mentioned('app/setup of a harbor'), ['setup.ts'], 'the whole path in the folder');
});

test('a file whose name says it is found although many places of others have more words', async (t) => {
  const places = Array.from({ length: 100 }, (_, at) => method(`fill${at}`, 'harbor.field')).join('');
  const index = await indexOf(t, {
    'src/rows.ts': places,
    'src/columns.ts': places,
    'src/harbor.ts': method('steer', 'wind'),
  });
  assert.equal((await index.search('harbor with fields', 2))[0]?.path, 'src/harbor.ts');
});

test('a module that a file requires is not defined there', async (t) => {
  const required = ['cookie', 'response', 'anchor'].map((name) => `var ${name} = require('${name}');\n`).join('');
  const index = await indexOf(t, {
    'lib/answer.js': `${required}${lines(40, '')}${method('setCookie', 'response.harbor')}`,
    'lib/wind.js': method('wind', 'sail'),
  });
  const [first] = await index.search('set a cookie on the response', 10);
  assert.deepEqual([first?.path, first?.symbols], ['lib/answer.js', ['setCookie']]);
  const [named] = await index.search('anchor', 10);
  assert.equal(named?.reasons?.definition, 0);
});
