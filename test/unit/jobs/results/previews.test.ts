import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pictureUrl, readPreviews } from '../../../../src/jobs/results/previews.ts';
import { ResultIndex } from '../../../../src/jobs/results/resultIndex.ts';

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

test('each type of picture has its address', () => {
  for (const [path, type] of [
    ['a.png', 'image/png'],
    ['a.jpg', 'image/jpeg'],
    ['a.jpeg', 'image/jpeg'],
    ['a.gif', 'image/gif'],
    ['a.webp', 'image/webp'],
    ['a.SVG', 'image/svg+xml'],
  ] as const) {
    assert.equal(pictureUrl(path, 'QQ=='), `data:${type};base64,QQ==`);
  }
  for (const path of ['png', 'a.bmp', 'a.png.txt', '.png']) assert.equal(pictureUrl(path, 'QQ=='), undefined, path);
});

test('a preview has the name and size of its file, and its content', async () => {
  assert.deepEqual(await previewsOf({ 'b\u001b[2J.png': 'xyz', 'a.csv': 'h\n1\n' }), [
    { type: 'picture', name: 'b.png (3 B)', data: 'data:image/png;base64,eHl6' },
    { type: 'table', name: 'a.csv (4 B)', rows: [['h'], ['1']] },
  ]);
  assert.deepEqual(await previewsOf({}), []);
});

test('contents that are not stored are not shown', async () => {
  const index = new ResultIndex([{ path: 'a.png', size: 5, mode: 0o644, offset: null }]);
  assert.deepEqual(await readPreviews(index, async () => assert.fail('it was read')), []);
});

test('a table is read to its sixth row, its eighth column and its fortieth character', async () => {
  const rows = (await rowsOf(Array.from({ length: 7 }, (_, index) => `${index}\n`).join(''))) as unknown[];
  assert.deepEqual(rows, [['0'], ['1'], ['2'], ['3'], ['4'], ['5']]);
  assert.deepEqual(await rowsOf('1,2,3,4,5,6,7,8,9\n'), [['1', '2', '3', '4', '5', '6', '7', '8']]);
  assert.deepEqual(await rowsOf(`${'x'.repeat(40)}\n${'y'.repeat(41)}`), [['x'.repeat(40)], ['y'.repeat(40)]]);
  assert.deepEqual(await rowsOf(' a , b\u001b[2J \n,,\n"",x\n'), [
    ['a', 'b'],
    ['', 'x'],
  ]);
  assert.deepEqual(await rowsOf('"a\nb"\n""""\n'), [['a b'], ['"']]);
  assert.deepEqual(await rowsOf('a\tb\n', 'a.csv'), [['a\tb']]);
});
