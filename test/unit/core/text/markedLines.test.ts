import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_JSON_DEPTH } from '../../../../src/core/jsonFields.ts';
import { MAX_VALUE_LENGTH, MAX_WRITERS } from '../../../../src/core/text/outputLimits.ts';
import { MarkedLineReader, MarkedLineWriter, type OutputPiece, textOf } from '../../../../src/core/text/markedLines.ts';

function linesOf(...values: readonly unknown[]): readonly string[] {
  const lines: string[] = [];
  const writer = new MarkedLineWriter((line) => lines.push(line));
  for (const value of values) writer.write(value);
  return lines;
}

function read(
  text: string,
  size = text.length,
): { readonly values: unknown[]; readonly text: string; readonly lost: number } {
  const reader = new MarkedLineReader();
  const pieces: OutputPiece[] = [];
  for (let start = 0; start < text.length; start += size) pieces.push(...reader.push(text.slice(start, start + size)));
  pieces.push(...reader.end());
  return {
    values: pieces.flatMap((piece) => (piece.type === 'value' ? [piece.value] : [])),
    text: pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).join(''),
    lost: reader.lost,
  };
}

const VALUES = [{ type: 'node-start', path: 'Ärger/日本/🚢' }, { n: 1 }, { text: '\u2028\n"' }];

test('values come out of the output as they went in, and the rest of it is untouched, wherever it is cut', () => {
  const [a = '', b = '', c = ''] = linesOf(...VALUES);
  const output = `start\n${a}progress 50%${b} 100%\r\n@@not a mark\n${c}end @`;
  for (const size of [1, 2, 7, 100, 10_000]) {
    const result = read(output, size);
    assert.deepEqual(result, { values: VALUES, text: 'start\nprogress 50% 100%\r\n@@not a mark\nend @', lost: 0 });
  }
});

test('every line is short and in ASCII, so a pipe takes it in one piece', () => {
  const value = { text: '日本'.repeat(20_000) };
  const lines = linesOf(value);
  assert.ok(lines.length > 10);
  for (const line of lines) {
    assert.ok(Buffer.byteLength(line) < 4096);
    assert.match(line, /^[ -~]*\n$/);
  }
  // Another process prints between the parts.
  assert.deepEqual(read(lines.join('other process\n')).values, [value]);
});

test('a line that was cut, mixed or forged stays text, and what is lost is counted', () => {
  const [a = '', b = '', c = ''] = linesOf(...VALUES);
  const cut = `${b.slice(0, 30)}\n`;
  const mixed = `${b.slice(0, 30)}INTRUDER${b.slice(30)}`;
  for (const damaged of [cut, mixed, b.slice(0, -9)]) {
    const result = read(a + damaged + c, 50);
    assert.deepEqual(result.values, [VALUES[0], VALUES[2]]);
    assert.equal(result.text, damaged);
    assert.equal(result.lost, 1);
  }
  const forged = '@@farwharf/flow:1:00000000:1:1/1:2:00000000:{}\n@@farwharf/flow:1:99';
  assert.deepEqual(read(forged), { values: [], text: forged, lost: 0 });
  const longer = a.replace(/\/1:\d+:/, '/1:9999:');
  assert.deepEqual(read(longer), { values: [], text: longer, lost: 0 });
  assert.deepEqual(read(`@@farwharf/flow:1:${'9'.repeat(10_000)}`).text.length, 10_018);
});

test('a service that sends its log again from the start does not double the values', () => {
  const lines = linesOf(...VALUES).join('');
  assert.deepEqual(read(lines + lines).values, VALUES);
});

test('several flows can write to one log', () => {
  assert.deepEqual(read([...linesOf(...VALUES), ...linesOf(...VALUES)].join('')).values, [...VALUES, ...VALUES]);
});

test('Windows line ends do no harm', () => {
  assert.deepEqual(
    read(
      linesOf(...VALUES)
        .join('')
        .replaceAll('\n', '\r\n'),
    ).values,
    VALUES,
  );
});

test('of more writers than one log may have, the one that was silent for the longest time is forgotten', () => {
  const writers = Array.from({ length: MAX_WRITERS + 1 }, () => {
    const lines: string[] = [];
    return { lines, writer: new MarkedLineWriter((line) => lines.push(line)) };
  });
  const next = (at: number): string => {
    writers[at]?.writer.write(at);
    return writers[at]?.lines.at(-1) ?? '';
  };
  const reader = new MarkedLineReader();
  for (let at = 0; at < MAX_WRITERS; at += 1) reader.push(next(at));
  const again = writers[0]?.lines[0] ?? '';
  reader.push(next(0)); // so that writer 1 is now the one that was silent longest
  const other = writers[1]?.lines[0] ?? '';
  reader.push(next(MAX_WRITERS));
  assert.deepEqual(reader.push(again), [], 'a value of a known writer does not come twice');
  assert.deepEqual(reader.push(other), [{ type: 'value', value: 1 }], 'a forgotten writer starts anew');
});

test('a value that is longer or deeper than its limit is lost and counted, and the next one is read', () => {
  const longest = 'x'.repeat(MAX_VALUE_LENGTH - 2); // and its quotes
  const outcome = (value: unknown) => {
    const { values, text, lost } = read(linesOf(value, 'next').join(''));
    return { isRead: values.length === 2, last: values.at(-1), text, lost };
  };
  const [isRead, isLost] = [
    { isRead: true, last: 'next', text: '', lost: 0 },
    { isRead: false, last: 'next', text: '', lost: 1 },
  ];
  assert.deepEqual(outcome(longest), isRead);
  assert.deepEqual(outcome(`${longest}x`), isLost);
  const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  assert.deepEqual(outcome(nested(MAX_JSON_DEPTH)), isRead);
  assert.deepEqual(outcome(nested(MAX_JSON_DEPTH + 1)), isLost);
});

test('a reader says whether it holds back what may become a value', () => {
  const reader = new MarkedLineReader();
  const [line = ''] = linesOf('value');
  const text = (text: string): OutputPiece[] => [{ type: 'text', text }];
  assert.deepEqual([reader.push('ready\n'), reader.isHolding], [text('ready\n'), false]);
  assert.deepEqual([reader.push('@@farw'), reader.isHolding], [[], true]);
  assert.deepEqual([reader.push('ell\n'), reader.isHolding], [text('@@farwell\n'), false]);
  assert.deepEqual([reader.push(line.slice(0, 40)), reader.isHolding], [[], true]);
  assert.deepEqual([reader.push(line.slice(40)), reader.isHolding], [[{ type: 'value', value: 'value' }], false]);
  assert.deepEqual([reader.push('@'), reader.end(), reader.isHolding, reader.end()], [[], text('@'), false, []]);
});

test('a value is written in as few parts of 3,000 characters as hold it, numbered within the value and the writer', () => {
  const numbers = (...values: readonly unknown[]): (string | undefined)[] =>
    linesOf(...values).map(
      (line) => /^@@farwharf\/flow:1:[0-9a-f]{8}:(\d+:\d+\/\d+:\d+):[0-9a-f]{8}:.*\n$/.exec(line)?.[1],
    );
  const text = (length: number): string => 'x'.repeat(length - 2); // and its quotes
  assert.deepEqual(numbers(text(3_000), text(3_001), text(6_001)), [
    '1:1/1:3000',
    '2:1/2:3000',
    '2:2/2:1',
    '3:1/3:3000',
    '3:2/3:3000',
    '3:3/3:1',
  ]);
  const [line = ''] = linesOf('\u007f\u0080é');
  assert.match(line, /:"\\u007f\\u0080\\u00e9"\n$/);
  assert.equal(
    /^@@farwharf\/flow:1:([0-9a-f]{8})/.exec(line)?.[1] === /:1:([0-9a-f]{8})/.exec(linesOf(1)[0] ?? '')?.[1],
    false,
  );
});

test('every value comes out again, whatever its checksum begins with', () => {
  const values = Array.from({ length: 300 }, (_, index) => index);
  assert.deepEqual(read(linesOf(...values).join('')).values, values);
});

test('values that were missed at the start, in between, or for want of a part are counted', () => {
  const values = ['a', 'b', 'c', 'd', 'e'];
  const lines = linesOf(...values);
  const kept = (...indexes: readonly number[]): string => indexes.map((index) => lines[index]).join('');
  assert.deepEqual(read(kept(2, 3, 4)), { values: ['c', 'd', 'e'], text: '', lost: 2 });
  assert.deepEqual(read(kept(0, 4)), { values: ['a', 'e'], text: '', lost: 3 });
  assert.deepEqual(read(kept(0, 1, 0, 2)), { values: ['a', 'b', 'c'], text: '', lost: 0 }, 'an old line comes again');
  const [first = '', second = '', third = '', next = ''] = linesOf('x'.repeat(8_000), 'next');
  assert.deepEqual(read(first + third + next), { values: ['next'], text: '', lost: 1 });
  assert.deepEqual(read(second + third + next), { values: ['next'], text: '', lost: 1 });
  assert.deepEqual(read(first + first + second + third + next).values, ['x'.repeat(8_000), 'next']);
});

test('text around the parts of a value is one piece', () => {
  const [first = '', second = ''] = linesOf('x'.repeat(4_000));
  const reader = new MarkedLineReader();
  assert.deepEqual(reader.push(`before ${first}between ${second}after`), [
    { type: 'text', text: 'before between ' },
    { type: 'value', value: 'x'.repeat(4_000) },
    { type: 'text', text: 'after' },
  ]);
  assert.deepEqual(reader.push(`${linesOf(1)[0]}${linesOf(2)[0]}`), [
    { type: 'value', value: 1 },
    { type: 'value', value: 2 },
  ]);
});

test('a mark without an end holds nothing back once no line can be as long', () => {
  const reader = new MarkedLineReader();
  const mark = '@@farwharf/flow:1:';
  const length = (pieces: readonly OutputPiece[]): number => textOf(pieces).length;
  assert.equal(length(reader.push(mark + 'x'.repeat(3_119 - mark.length))), 0);
  assert.equal(length(reader.push('x')), 3_120);
});
