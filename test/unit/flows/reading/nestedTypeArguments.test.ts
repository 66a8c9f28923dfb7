import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tooDeeplyNested } from '../../../../src/flows/syntax/nestedTypeArguments.ts';
import { readText } from '../reading.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const TOO_DEEP = /nested too deeply/;

/** Calls nested so deeply, with a syntax error at the end of the innermost. */
const nested = (call: string, levels: number): string => `const x = ${call.repeat(levels)}1 }`;

test('nested calls with a syntax error that would take hours to parse are a problem at their place', () => {
  for (const call of ['s<R>({ start: ', 'async<R>({ start: ', 's?.<R>(', 's<R>`${', '<R>({ start: ', 's < R > (']) {
    const { syntaxError, flows } = readText(nested(call, 60));
    assert.match(syntaxError?.message ?? '', TOO_DEEP, call);
    assert.ok((syntaxError?.range.start.offset ?? 0) > call.length);
    assert.deepEqual(flows, []);
  }
});

test('a large text in a few nested calls is refused too, since each level reads it again', () => {
  const inner = 'call(1, 2, 3);'.repeat(20_000);
  assert.match(readText(nested(`s<R>(() => { ${inner} `, 8)).syntaxError?.message ?? '', TOO_DEEP);
});

test('brackets without end are passed over in a time that grows with their number', () => {
  for (const text of ['('.repeat(300_000) + ']'.repeat(300_000), '/*'.repeat(300_000), "'\\".repeat(300_000)])
    assert.doesNotMatch(readText(text).syntaxError?.message ?? '', TOO_DEEP);
});

test('calls as people nest them are read', () => {
  const closed = `const x = ${'s<R>({ start: '.repeat(10)}1${' })'.repeat(10)};`;
  assert.equal(readText(closed).syntaxError, undefined);
  const comments = "// it's a list->(\n".repeat(50) + '/* a->( */ const a = "x>("; const b = () => (1);\n'.repeat(50);
  assert.equal(readText(comments.replaceAll('const a', 'var a').replaceAll('const b', 'var b')).syntaxError, undefined);
});

test('the sources of this project and its examples are not nested too deeply', () => {
  const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'examples/**/*.{ts,mts}'], { cwd: ROOT });
  assert.ok(files.length > 1_000);
  const refused = files.filter((file) => tooDeeplyNested(readFileSync(join(ROOT, file), 'utf8')) !== undefined);
  assert.deepEqual(refused, []);
});
