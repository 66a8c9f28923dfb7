import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { AppError } from '../../../../../src/core/errors.ts';
import { readDataSet } from '../../../../../src/flows/run/evals/dataSet.ts';

async function write(t: TestContext, name: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-data-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test('cases are read from JSON lines, with checks for all rows below a line without a state', async (t) => {
  const path = await write(
    t,
    'cases.jsonl',
    `\uFEFF{"shared":{"q":"a"},"expect":{"answer":"A","note":{"text":1}}}
{"expect":{"answer":{"$matches":"^[A-Z]$","$schema":{"type":"string"}}}}

{"name":"second","shared":{"q":"b"},"expect":{"answer":{"$judge":"Is {{answer}} polite?"}}}`,
  );
  const cases = await readDataSet(path);
  assert.deepEqual(
    cases.map(({ line, name, shared, checks }) => [line, name, shared, checks]),
    [
      [
        1,
        'line 1',
        { q: 'a' },
        [
          { key: 'answer', type: 'exact', value: 'A', isText: false },
          { key: 'note', type: 'exact', value: { text: 1 }, isText: false },
        ],
      ],
      [
        4,
        'second',
        { q: 'b' },
        [
          { key: 'answer', type: 'matches', pattern: '^[A-Z]$' },
          { key: 'answer', type: 'schema', schema: { type: 'string' } },
          { key: 'answer', type: 'judge', judge: { prompt: 'Is {{answer}} polite?' } },
        ],
      ],
    ],
  );
  assert.equal(cases[1]?.key, 'second');
});

test('cases are read from CSV, with quotes, commas and line breaks in fields', async (t) => {
  const path = await write(
    t,
    'cases.CSV',
    'name,question,expect.answer,expect.answer.$matches,expect.n.$schema\r\n' +
      'a,"one, ""two""\r\nthree",yes,,\r\n' +
      ',plain,,^y,"{""type"":""string""}"\r\n\r\n',
  );
  const cases = await readDataSet(path);
  assert.deepEqual(
    cases.map(({ line, name, shared, checks }) => [line, name, shared, checks.map(({ type }) => type)]),
    [
      [2, 'a', { question: 'one, "two"\r\nthree' }, ['exact']],
      [4, 'line 4', { question: 'plain' }, ['matches', 'schema']],
    ],
  );
});

test('each bad row is named by its line, and nothing is read from a file that is not a data set', async (t) => {
  const path = await write(
    t,
    'bad.jsonl',
    [
      '{"shared":{}}',
      '{"shared":3}',
      '{"shared":{"a":{"__proto__":{}}}}',
      '{oops',
      '{"shared":{},"x":1}',
      '{"name":"q"}',
    ]
      .concat('{"shared":{"a":1},"expect":{"a":{"$matches":"("}}}', '{"shared":{"b":1},"expect":{"a":{"$odd":1}}}')
      .concat('{"shared":{}}', `{"shared":{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}}`)
      .join('\n'),
  );
  await assert.rejects(readDataSet(path), (error: AppError) => {
    assert.equal(error.code, 'bad-input');
    const lines = error.message.split('\n').slice(1);
    assert.deepEqual(
      lines.map((line) => line.split(':')[1]),
      ['2', '3', '4', '5', '6', '7', '8', '9', '10'],
    );
    assert.match(lines[1] ?? '', /the key "__proto__" is not allowed/);
    assert.match(lines[7] ?? '', /the same shared state as line 1/);
    assert.match(lines[8] ?? '', /nested more than 100 levels deep/);
    return true;
  });
  const csv = await write(t, 'bad.csv', 'a,__proto__\n1,2\n1\n');
  await assert.rejects(readDataSet(csv), /bad\.csv:2: the key "__proto__" is not allowed\.\n.*:3: it has 1 fields/s);
  await assert.rejects(readDataSet(await write(t, 'twice.csv', 'a,a\n1,2')), /:1: two columns are called "a"/);
  const deep = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;
  const schemas = await write(t, 'deep.csv', `a,expect.a.$schema\n1,"{""allOf"":${deep}}"\n`);
  await assert.rejects(readDataSet(schemas), /deep\.csv:2: it is nested more than 100 levels deep/);
  await assert.rejects(readDataSet(await write(t, 'empty.jsonl', '\n\n')), /has no cases/);
  await assert.rejects(readDataSet(await write(t, 'cases.json', '[]')), /must be a \.jsonl or \.csv file/);
  await assert.rejects(readDataSet(join(path, 'missing.jsonl')), (error: AppError) => error.code === 'missing');
  const device = join(path, '../device.jsonl');
  await symlink('/dev/zero', device);
  await assert.rejects(readDataSet(device), /is not a file/);
});

test('a row over a million characters ends the reading where it is', async (t) => {
  for (const name of ['long.jsonl', 'long.csv']) {
    const path = await write(t, name, 'a\n');
    await truncate(path, 8_000_000_000); // sparse, and larger than memory and the longest string
    await assert.rejects(readDataSet(path), (error: AppError) => {
      return error.code === 'limit' && /:2: the row is longer than/.test(error.message);
    });
  }
});
