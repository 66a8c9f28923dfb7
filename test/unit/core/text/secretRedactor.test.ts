import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRedactor, SecretRedactor } from '../../../../src/core/text/secretRedactor.ts';

const VALUE = 'tok"en-8f3a/2b\n+second line of it';

/** The text as a stream in pieces of this many characters. */
function streamed(redactor: SecretRedactor, text: string, size: number): string {
  const stream = redactor.stream();
  let out = '';
  for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
  return out + stream.end();
}

test('a value is replaced as it is, line by line, in JSON, in a URL and in base64', () => {
  const redactor = new SecretRedactor([VALUE]);
  const texts = [VALUE, JSON.stringify(VALUE), encodeURIComponent(VALUE), Buffer.from(VALUE).toString('base64')];
  for (const text of [...texts, '  +second line of it', 'tok"en-8f3a/2b']) {
    const clean = redactor.redact(`before ${text} after ${text}`);
    assert.match(clean, /^before .*\[redacted\].* after .*\[redacted\]/, text);
    assert.doesNotMatch(clean, /8f3a|second|dG9rIm/);
  }
  assert.deepEqual(redactor.redactValue({ a: [VALUE, 1, null], [VALUE]: { b: `x${VALUE}` } }), {
    a: ['[redacted]', 1, null],
    '[redacted]': { b: 'x[redacted]' },
  });
});

test('a value of digits is replaced in JSON as a number too', () => {
  const redactor = new SecretRedactor(['48151623']);
  assert.deepEqual(redactor.redactValue({ pin: 48_151_623, list: [148_151_623, 4_815_162], ok: true }), {
    pin: '[redacted]',
    list: ['1[redacted]', 4_815_162],
    ok: true,
  });
});

test('a value that is printed in pieces of any size is replaced', () => {
  const redactor = new SecretRedactor(['hunter2hunter3', 'hunter2', 'aaab']);
  const text = 'say hunter2hunter3! hunter2, hunter2hunter2hunter3 aaaaab hunter hunt';
  const clean = 'say [redacted]! [redacted], [redacted][redacted] aa[redacted] hunter hunt';
  assert.equal(redactor.redact(text), clean);
  for (let size = 1; size <= text.length; size += 1) assert.equal(streamed(redactor, text, size), clean, String(size));
});

test('only the beginning of a value is held back, and everything else is passed on at once', () => {
  const stream = new SecretRedactor(['secret']).stream();
  assert.equal(stream.push('progress 1 %\n'), 'progress 1 %\n');
  assert.equal(stream.push('guess: '), 'guess: ');
  assert.equal(stream.push('sec'), '');
  assert.equal(stream.push('ond'), 'second');
  assert.equal(stream.push('secr'), '');
  assert.equal(stream.end(), 'secr');
});

test('random texts and values in random pieces never leave a value, and lose nothing else', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
  const word = (length: number): string => Array.from({ length }, () => 'ab'.charAt(random(2))).join('');
  for (let round = 0; round < 2_000; round += 1) {
    const values = Array.from({ length: 1 + random(3) }, () => word(4 + random(5)));
    const redactor = new SecretRedactor(values);
    const text = word(60);
    const clean = streamed(redactor, text, 1 + random(9));
    for (const part of clean.split('[redacted]')) {
      for (const value of values) assert.ok(!part.includes(value), `${text} of ${values.join()}: ${clean}`);
    }
    if (values.every((value) => !text.includes(value))) assert.equal(clean, text);
  }
});

test('looking for large values costs a time that grows with the text and no faster', () => {
  const redactor = new SecretRedactor(Array.from({ length: 16 }, (_, index) => `${index}`.padEnd(32_000, 'x')));
  const stream = redactor.stream();
  let length = 0;
  for (let index = 0; index < 200; index += 1) length += stream.push(`${'x'.repeat(4_000)}\n`).length;
  assert.equal(length + stream.end().length, 200 * 4_001);
});

test('without values nothing needs to be looked for', () => {
  assert.equal(openRedactor([]), undefined);
  assert.equal(openRedactor(['hunter2'])?.redact('hunter2!'), '[redacted]!');
});

test('a line of a value counts by itself from eight characters on, and up to the hundredth', () => {
  const redactor = new SecretRedactor(['  eight888 \r\nseven77\nanother line\n']);
  assert.equal(redactor.redact('eight888, seven77, another line'), '[redacted], seven77, [redacted]');
  const lines = Array.from({ length: 101 }, (_, index) => `line number ${index + 1}`);
  const long = new SecretRedactor([lines.join('\n')]);
  assert.equal(long.redact('<line number 99> <line number 100>'), '<[redacted]> <[redacted]>');
  assert.equal(new SecretRedactor([lines.slice(1).join('\n')]).redact('line number 101'), '[redacted]');
  assert.equal(long.redact(`<${lines.join('\n')}>`), '<[redacted]>');
  assert.equal(long.redact('line number 101'), '[redacted]1', 'as it begins with the tenth line');
});

test('what is no text is kept, and a value that is no text of Unicode is replaced too', () => {
  const redactor = new SecretRedactor(['\ud800 half of a pair']);
  assert.deepEqual(redactor.redactValue([null, true, undefined, 12, { a: null }]), [
    null,
    true,
    undefined,
    12,
    { a: null },
  ]);
  assert.equal(redactor.redact('a \ud800 half of a pair'), 'a [redacted]');
  assert.equal(redactor.redact(encodeURIComponent('\ufffd half of a pair')), '[redacted]');
});

test('a stream that has ended holds nothing any more', () => {
  const stream = new SecretRedactor(['secret']).stream();
  assert.deepEqual([stream.push('a sec'), stream.end(), stream.end()], ['a ', 'sec', '']);
  assert.deepEqual([stream.push('ret'), stream.end()], ['ret', '']);
});
