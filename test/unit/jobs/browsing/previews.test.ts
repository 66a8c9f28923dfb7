import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pictureUrl, readPreviews } from '../../../../src/jobs/browsing/previews.ts';
import { ResultIndex } from '../../../../src/jobs/browsing/resultIndex.ts';

/** Previews of results with these contents. A number stands for as many bytes that must not be read. */
function previewsOf(contents: Readonly<Record<string, string | number>>) {
  const files = Object.entries(contents).map(([path, content]) => {
    return { path, size: typeof content === 'number' ? content : content.length, mode: 0o644, offset: 0 };
  });
  return readPreviews(new ResultIndex(files), async ({ path }, mostBytes) => {
    const content = contents[path];
    assert.ok(typeof content === 'string', `${path} was read`);
    return Buffer.from(content).subarray(0, mostBytes);
  });
}

async function rowsOf(text: string, name = 'a.csv'): Promise<unknown> {
  const [preview] = await previewsOf({ [name]: text });
  return preview?.type === 'table' ? preview.rows : undefined;
}

test('pictures come before tables, those with the shortest paths first, and no more than one looks at', async () => {
  const pictures = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`plots/deep/${index}.png`, 'p']));
  const tables = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.csv`, 'a,b\n']));
  const previews = await previewsOf({ ...pictures, ...tables, 'plots/loss.SVG': '<svg/>', 'notes.txt': 'no' });
  assert.deepEqual(
    previews.map(({ name }) => name.split(' ')[0]),
    [
      'plots/loss.SVG',
      ...Array.from({ length: 5 }, (_, index) => `plots/deep/${index}.png`),
      '0.csv',
      '1.csv',
      '2.csv',
    ],
  );
});

test('a picture over 1 MB and empty results are not read, one of 1 MB is', async () => {
  const whole = 'x'.repeat(1_000_000);
  const previews = await previewsOf({ 'large.png': 1_000_001, 'empty.csv': '', 'empty.png': '', 'just.png': whole });
  assert.deepEqual(
    previews.map(({ name }) => name),
    ['just.png (1.0 MB)'],
  );
});

test('cells of a table may be quoted, with separators, line ends and quotes in them', async () => {
  assert.deepEqual(await rowsOf('name,note\r\nada,"a, ""b""\nc"\r\n'), [
    ['name', 'note'],
    ['ada', 'a, "b" c'],
  ]);
  assert.deepEqual(await rowsOf('a\tb,c\n', 'a.tsv'), [['a', 'b,c']]);
});

test('the last row of a table counts without a line end, unless the table is cut off', async () => {
  assert.deepEqual(await rowsOf('a,b\n1,2'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
  const row = `${'x'.repeat(3_990)},12345678\n`;
  const rows = await rowsOf(row.repeat(5));
  assert.ok(Array.isArray(rows));
  assert.deepEqual(
    rows.slice(0, 4),
    Array.from({ length: 4 }, () => ['x'.repeat(40), '12345678']),
  );
});

test('of a large table, six rows, eight columns and forty characters a cell are shown', async () => {
  const rows = await rowsOf(`${Array.from({ length: 20 }, () => 'y'.repeat(50)).join(',')}\n`.repeat(10));
  assert.deepEqual(
    rows,
    Array.from({ length: 6 }, () => Array.from({ length: 8 }, () => 'y'.repeat(40))),
  );
  assert.equal(await rowsOf('\n\n,,\n'), undefined);
});

test('only a picture has an address, of its type', () => {
  assert.equal(pictureUrl('a/B.JPEG', 'QQ=='), 'data:image/jpeg;base64,QQ==');
  assert.equal(pictureUrl('a.html', 'QQ=='), undefined);
});
