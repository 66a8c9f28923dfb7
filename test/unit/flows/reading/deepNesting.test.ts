import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText } from '../reading.ts';

const TOO_DEEP = /nested too deeply/;

/** Calls nested so deeply, with a syntax error at the end of the innermost. */
const nested = (call: string, levels: number): string => `const x = ${call.repeat(levels)}1 }`;

test('nested calls with a syntax error that would take hours to parse are a problem at their place', () => {
  for (const call of ['s<R>({ start: ', 'async<R>({ start: ', 's?.<R>(', 's<R>`${', '<R>({ start: ', 's < R > (']) {
    const { syntaxError, flows } = readText(nested(call, 60));
    assert.match(syntaxError?.message ?? '', TOO_DEEP, call);
    assert.ok((syntaxError?.range.start.offset ?? 0) > 0);
    assert.deepEqual(flows, []);
  }
  const hidden = readText(`const a = /'|\\//; ${nested('s<R>({ /* ) } */ start: ', 60)}`);
  assert.match(hidden.syntaxError?.message ?? '', TOO_DEEP);
});

test('a large text in a few nested calls is refused too, since each level reads it again', () => {
  const inner = 'call(1, 2, 3);'.repeat(20_000);
  assert.match(readText(nested(`s<R>(() => { ${inner} `, 8)).syntaxError?.message ?? '', TOO_DEEP);
});

test('long texts and deep nesting without an error are read', () => {
  const closed = `const x = ${'s<R>({ start: '.repeat(100)}1${' })'.repeat(100)};`;
  assert.equal(readText(closed).syntaxError, undefined);
  assert.equal(readText('call(1, 2, 3);\n'.repeat(20_000)).syntaxError, undefined);
});
