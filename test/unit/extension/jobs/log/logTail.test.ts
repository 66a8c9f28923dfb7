import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LogTail } from '../../../../../src/extension/jobs/log/logTail.ts';

test('the first step replaces what the view held, later ones are added', () => {
  const tail = new LogTail('heading\n');
  tail.push('a\n');
  assert.deepEqual(tail.take(), { type: 'replace', text: 'heading\na\n' });
  tail.push('b\n');
  tail.push('c\n');
  assert.deepEqual(tail.take(), { type: 'append', text: 'b\nc\n' });
  assert.deepEqual(tail.take(), { type: 'append', text: '' });
});

test('a log beyond the limit starts anew with its newest whole lines, and says that something is missing', () => {
  const tail = new LogTail('heading\n', 20);
  for (let line = 0; line < 30; line += 1) tail.push(`line ${line}\n`);
  const { type, text } = tail.take();
  assert.equal(type, 'replace');
  assert.match(text, /^heading\n› Earlier output is not shown[^\n]*\nline \d+\n/);
  assert.ok(text.endsWith('line 29\n'));
  assert.ok(text.length < 200);
});

test('a view never holds more than twice the limit', () => {
  const tail = new LogTail('', 1000);
  let shown = 0;
  for (let step = 0; step < 500; step += 1) {
    tail.push(`${'x'.repeat(40)}\n`);
    const { type, text } = tail.take();
    shown = type === 'replace' ? text.length : shown + text.length;
    assert.ok(shown <= 2100, `${shown} characters after step ${step}`);
  }
});

test('a moving line is replaced as it moves, stays below new text, and leaves nothing behind', () => {
  const tail = new LogTail('heading\n');
  let view = '';
  const show = (): string => {
    const { type, text } = tail.take();
    view = type === 'replace' ? text : view + text;
    return view;
  };
  tail.push('a\n');
  assert.ok(tail.setMoving('10 %'));
  assert.equal(show(), 'heading\na\n10 %');
  tail.setMoving('20 %');
  assert.equal(show(), 'heading\na\n20 %');
  assert.equal(tail.take().text, '');
  tail.push('b');
  assert.equal(show(), 'heading\na\nb\n20 %');
  tail.push('\n100 %\n');
  tail.setMoving('');
  assert.equal(show(), 'heading\na\nb\n100 %\n');
  tail.push('c\n');
  assert.deepEqual(tail.take(), { type: 'append', text: 'c\n' });
});

test('below a long text no line moves, and nothing of the text is lost', () => {
  const tail = new LogTail('');
  const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index} ${'x'.repeat(40)}\n`);
  let view = '';
  let hasStopped = false;
  for (const line of lines) {
    tail.push(line);
    hasStopped ||= !tail.setMoving('50 %');
    const { type, text } = tail.take();
    view = type === 'replace' ? text : view + text;
  }
  assert.ok(hasStopped);
  assert.equal(view, lines.join(''));
});
