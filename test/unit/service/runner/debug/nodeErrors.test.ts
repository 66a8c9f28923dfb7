import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originalPlace } from '../../../../../src/service/runner/debug/originalPlace.ts';
import { describeError, readStackFrames } from '../../../../../src/service/runner/debug/stackFrames.ts';
import { readTryStatements } from '../../../../../src/service/runner/debug/tryStatements.ts';

/** What is known of the place that is marked with `@`. */
function at(marked: string): { readonly isCaught: boolean; readonly isTopLevel: boolean } {
  const offset = marked.indexOf('@');
  const source = marked.replace('@', '');
  const before = source.slice(0, offset).split('\n');
  return readTryStatements(source).at(before.length - 1, before.at(-1)?.length ?? 0);
}

test('what a try catches is distinguished from what leaves its function', () => {
  const caught = (source: string): boolean => at(source).isCaught;
  assert.ok(caught('try { if (a) { @f() } } catch { }'));
  assert.ok(caught('const g = async () => { try { return await @f() } catch (e) { } }'));
  assert.ok(caught('try { x({ a: /[}"]/, b: `${"}"} {` }); @f() } catch { }'));
  assert.ok(caught('await @Promise.all([a()]).catch(() => {})'));
  assert.ok(caught('@f().then(a, b)'));
  assert.ok(!caught('try { @f() } finally { }'));
  assert.ok(!caught('try { g() } catch { @f() }'));
  assert.ok(!caught('try { g() } catch { } @f(); h().catch(() => {})'));
  assert.ok(!caught('try { a(function () { @f() }) } catch { }'), 'the function may run later');
  assert.ok(!caught('o.try({ a() { @f() } }); "try {"; // try {'));
});

test('the top level is what no function is around', () => {
  const isTopLevel = (source: string): boolean => at(source).isTopLevel;
  assert.ok(isTopLevel('for (const a of b) { if (a) { @f() } }'));
  assert.ok(isTopLevel('const a = { b: @f() }'));
  assert.ok(isTopLevel('const t = `a ${() => { g() }} b`;\n@f()'));
  assert.ok(!isTopLevel('async function f(a = {}) { await @g() }'));
  assert.ok(!isTopLevel('class A { m() { @g() } }'));
  assert.ok(!isTopLevel('a.map((b) => { @g() })'));
});

test('scripts that are cut off or no JavaScript are read to their end', () => {
  for (const source of ['try { `${', '}}}) catch', '/*', '"\\', `${'('.repeat(50_000)}@`]) assert.ok(at(`${source} @`));
});

test('stack traces and errors of V8 are read', () => {
  const stack = `TypeError: no
    at step (file:///job/a%20b.mjs:12:5)
    at async Promise.all (index 0)
    at async main (/job/x.cjs:3:1)
    at async file:///job/a.mjs:1:235`;
  assert.deepEqual(
    readStackFrames(stack).map(({ functionName, url, lineNumber, columnNumber, isAwaiting }) =>
      [functionName, url, lineNumber, columnNumber, isAwaiting].join(' '),
    ),
    ['step file:///job/a%20b.mjs 11 4 false', 'main /job/x.cjs 2 0 true', ' file:///job/a.mjs 0 234 true'],
  );
  assert.deepEqual(describeError({ className: 'TypeError', description: stack }), {
    error: 'TypeError',
    message: 'no',
  });
  assert.deepEqual(describeError({ type: 'number', description: '7' }), { error: 'number', message: '7' });
  assert.deepEqual(describeError(undefined), { error: '', message: '' });
});

test('a source map leads to what was written, and a damaged one to nothing', async () => {
  const map = { version: 3, sources: ['../src/a.ts'], names: [], mappings: 'AAAA;AAEA' };
  const url = `data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`;
  const place = { lineNumber: 1, columnNumber: 4 };
  assert.deepEqual(await originalPlace('/job/dist/a.js', url, place), { file: '/job/src/a.ts', line: 3 });
  for (const damaged of ['', 'data:application/json,{', 'missing.map', 'data:application/json,null'])
    assert.equal(await originalPlace('/job/dist/a.js', damaged, place), undefined);
});
