import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrintedPictures } from '../../../../src/jobs/report/jobPage.ts';

const DATA = Buffer.from('a picture').toString('base64');
const lineOf = (picture: unknown): string => `farwharf:picture ${JSON.stringify(picture)}\n`;

function read(...texts: readonly string[]): PrintedPictures {
  const pictures = new PrintedPictures();
  for (const text of texts) pictures.push({ event: 'log', data: { text } });
  return pictures;
}

test('a later picture replaces one with the same name, and the last six remain', () => {
  const [start, end] = [
    lineOf({ name: 'a.png', data: DATA }).slice(0, 30),
    lineOf({ name: 'a.png', data: DATA }).slice(30),
  ];
  const pictures = read(start, end, lineOf({ name: 'b.svg', data: DATA }), lineOf({ name: 'a.png', data: DATA }));
  assert.deepEqual(pictures.all, [
    { type: 'picture', name: 'b.svg', data: `data:image/svg+xml;base64,${DATA}` },
    { type: 'picture', name: 'a.png', data: `data:image/png;base64,${DATA}` },
  ]);
  assert.equal(pictures.count, 3);
  const many = read(...Array.from({ length: 20 }, (_, index) => lineOf({ name: `${index}.png`, data: DATA })));
  assert.deepEqual(
    many.all.map(({ name }) => name),
    ['14.png', '15.png', '16.png', '17.png', '18.png', '19.png'],
  );
});

test('what is not a picture adds none, and names are free of control characters', () => {
  const others = [
    { name: 'a.html', data: DATA },
    { name: 'a.png', data: '"><script>' },
    { name: 'a.png' },
    { name: '', data: DATA },
    { name: 'large.png', data: 'A'.repeat(400_000) },
  ];
  assert.deepEqual(read(...others.map(lineOf), 'farwharf:picture {"name"\n', 'farwharf:picture []\n').all, []);
  const [shown] = read(lineOf({ name: '\u001b[2Ja\nb.png', data: DATA })).all;
  assert.equal(shown?.name, 'a b.png');
});
