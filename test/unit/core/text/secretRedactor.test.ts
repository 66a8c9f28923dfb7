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

const TOKEN = 'zebra"cross/ing 42+é<&%>';

function base64(text: string, width = Number.POSITIVE_INFINITY): string {
  const all = Buffer.from(text).toString('base64');
  return width > all.length ? all : (all.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') ?? '');
}

function bytesAs(write: (byte: number) => string, separator = ''): string {
  return Array.from(Buffer.from(TOKEN), write).join(separator);
}

function eachAs(write: (character: string) => string): string {
  return Array.from(TOKEN, write).join('');
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const unit = (character: string): string => hex(character.charCodeAt(0)).padStart(4, '0');

const SPELLINGS: Readonly<Record<string, string>> = {
  'as it is': TOKEN,
  'base64 of the value': base64(TOKEN),
  'base64 of a line, as echo writes it': base64(`${TOKEN}\n`),
  'base64 after one byte': base64(`u${TOKEN}`),
  'base64 after two bytes, as in HTTP Basic': base64(`u:${TOKEN}`),
  'base64 between others': base64(`user:${TOKEN}:more of it`),
  'base64 without padding': base64(TOKEN).replaceAll('=', ''),
  'base64 of URLs': Buffer.from(`>>?${TOKEN}`).toString('base64url'),
  'base64 wrapped at 8': base64(`user:${TOKEN}`, 8),
  'base64 wrapped and indented': base64(TOKEN, 16).replaceAll('\n', '\n      '),
  'base64 with CRLF': base64(TOKEN, 16).replaceAll('\n', '\r\n'),
  'base64 in JSON': JSON.stringify(base64(TOKEN, 20)),
  'base64 with escaped slashes': base64(`>>?${TOKEN}`).replaceAll('/', '\\/'),
  'base64 in a URL': encodeURIComponent(base64(`>>?${TOKEN}`)),
  'base64 of JSON': base64(JSON.stringify({ token: TOKEN })),
  hexadecimal: bytesAs(hex),
  'hexadecimal in capitals': bytesAs(hex).toUpperCase(),
  'hexadecimal with spaces': bytesAs(hex, ' '),
  'hexadecimal with colons': bytesAs(hex, ':').toUpperCase(),
  'hexadecimal with commas': bytesAs(hex, ', '),
  'hexadecimal in twos': bytesAs(hex).replaceAll(/(.{4})/g, '$1 '),
  'hexadecimal with 0x': bytesAs((byte) => `0x${hex(byte)}`, ', '),
  'hexadecimal wrapped': bytesAs(hex).replaceAll(/(.{20})/g, '$1\n'),
  'as in xxd -i': bytesAs((byte) => `0x${hex(byte)}`, ', ').replaceAll(/((?:0x.., ){4})/g, '$1\n  '),
  'percent-encoded': encodeURIComponent(TOKEN),
  'percent-encoded in lower case': encodeURIComponent(TOKEN).toLowerCase(),
  'percent-encoded, every byte': bytesAs((byte) => `%${hex(byte)}`),
  'percent-encoded with slashes as they are': encodeURIComponent(TOKEN).replaceAll('%2F', '/'),
  'percent-encoded as little as possible': encodeURI(TOKEN),
  'a form': new URLSearchParams({ a: TOKEN }).toString().slice(2),
  'percent-encoded twice': encodeURIComponent(encodeURIComponent(TOKEN)),
  'by escape()': eachAs((character) => (/[\w+/]/.test(character) ? character : `%${hex(character.charCodeAt(0))}`)),
  'percent-encoded UTF-16': eachAs((character) => `%u${unit(character)}`),
  JSON: JSON.stringify(TOKEN),
  'JSON in ASCII': JSON.stringify(TOKEN).replaceAll('é', '\\u00e9'),
  'JSON with every character escaped': eachAs((character) => `\\u${unit(character)}`),
  'JSON in capitals': eachAs((character) => `\\u${unit(character).toUpperCase()}`),
  'JSON for HTML': JSON.stringify(TOKEN).replaceAll(/[<>&]/g, (character) => `\\u${unit(character)}`),
  'JSON with escaped slashes': JSON.stringify(TOKEN).replaceAll('/', '\\/'),
  'JSON in JSON': JSON.stringify(JSON.stringify({ token: TOKEN })),
  'JSON in JSON in JSON': JSON.stringify(JSON.stringify(JSON.stringify({ token: TOKEN }).replaceAll('é', '\\u00e9'))),
  'bytes of Python': bytesAs((byte) => (byte > 127 ? `\\x${hex(byte)}` : String.fromCharCode(byte))),
  'ASCII of Python': TOKEN.replaceAll('é', '\\xe9'),
  'all bytes with \\x': bytesAs((byte) => `\\x${hex(byte)}`),
  octal: bytesAs((byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  'braced code points': eachAs((character) => `\\u{${unit(character)}}`),
  'wide code points': eachAs((character) => `\\U0000${unit(character)}`),
  'quoted for a shell': TOKEN.replaceAll(/[^\w/é]/g, '\\$&'),
  HTML: TOKEN.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'HTML with numbers': eachAs((character) => `&#${character.charCodeAt(0)};`),
  'HTML with hexadecimal numbers': eachAs((character) => `&#x${unit(character)};`),
  'HTML in HTML': TOKEN.replaceAll('&', '&amp;amp;').replaceAll('"', '&amp;quot;').replaceAll('<', '&amp;lt;'),
  'over lines': TOKEN.replaceAll(/(.{6})/gs, '$1\n'),
  'over lines with CRLF and indentation': TOKEN.replaceAll(/(.{7})/gs, '$1\r\n    '),
  'in colours': TOKEN.replaceAll(/(.{5})/gs, '$1\u001B[1;31m'),
  'every character in another colour': eachAs(
    (character) => `\u001B[38;5;${character.charCodeAt(0)}m${character}\u001B[0m`,
  ),
  'colours in JSON': JSON.stringify(TOKEN.replaceAll(/(.{5})/gs, '$1\u001B[1;31m')),
};

for (const [name, spelled] of Object.entries(SPELLINGS)) {
  test(`a value is replaced in the spelling: ${name}`, () => {
    const redactor = new SecretRedactor(['another-secret-value', TOKEN]);
    const text = `before ${spelled} after\n`;
    const clean = redactor.redact(text);
    assert.match(clean, /^before .{0,30}\[redacted\].{0,30} after\n$/s);
    assert.doesNotMatch(clean, /ebra|ross|ZWJy|6562|65.62|%65|065|0065/i);
    for (const size of [1, 2, 3, 7, 30]) {
      // Up to three characters at the end of a line are not held back.
      const pieces = streamed(redactor, text, size);
      const [start = '', end = ''] = clean.split('[redacted]');
      assert.ok(pieces.startsWith(start) && pieces.endsWith(`[redacted]${end}`), pieces);
      assert.ok(pieces.length <= clean.length + ' zeb\r\n    '.length, pieces);
    }
  });
}

test('a value is replaced in each spelling among many lines of which none is read character by character', () => {
  const redactor = new SecretRedactor(['another-secret-value', TOKEN]);
  const lines = Array.from({ length: 30 }, (_, line) =>
    JSON.stringify({ level: 'info', message: `step "${line}" done` }),
  );
  const table = Array.from({ length: 30 }, (_, line) =>
    Array.from({ length: 16 }, (_, column) => hex((line * 31 + column * 17) % 256)).join(' '),
  );
  for (const [name, spelled] of Object.entries(SPELLINGS)) {
    const [alone = ''] = redactor.redact(`"${spelled}`).split('[redacted]');
    for (const others of [lines, table]) {
      const around = others.join('\n');
      for (const before of [`${around}\n`, `${around}\nthe value: `, around]) {
        const clean = redactor.redact(`${before}"${spelled}\n${around}\n${spelled}`);
        assert.ok(clean.startsWith(`${before}${alone}[redacted]`), name);
        assert.equal(clean.split('[redacted]').length, 3, name);
        assert.doesNotMatch(clean, /ebra|ross|ZWJy|656272|65.62.72|%65|0065/i, name);
      }
    }
  }
});

test('a value is replaced wherever one line ends in it among long lines, and whatever of it was printed before', () => {
  const redactor = new SecretRedactor(['another-secret-value', TOKEN]);
  const others = 'step 12 of 40 was done in 0.25 s\n'.repeat(20);
  for (const spelled of [TOKEN, base64(`user:${TOKEN}`), bytesAs(hex, ' ')]) {
    for (let cut = 1; cut < spelled.length; cut += 1) {
      for (const indentation of ['', '      ']) {
        const [start, end] = [spelled.slice(0, cut), spelled.slice(cut)];
        if (end.startsWith(' ')) continue; // it is like indentation
        const text = `the value that was read is ${start}\n${indentation}${end} and was stored in a file\n${others}`;
        const clean = redactor.redact(others + text);
        assert.equal(clean.split('[redacted]').length, 2, `${spelled} ${cut}`);
        assert.ok(clean.length < others.length + text.length - spelled.length + 20, `${spelled} ${cut}`);
      }
      const stream = redactor.stream();
      const text = `${others}${spelled} and was stored in a file\n${others}`;
      const at = others.length + cut;
      const clean = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.end();
      assert.equal(clean, redactor.redact(text), `${spelled} ${cut}`);
    }
  }
});

test('a value is replaced whatever looks like an escape at its borders', () => {
  const values = [
    'nopqrstu',
    'x41bcdefgh',
    'u0041bcdefg',
    '41bcdefghij',
    'amp;bcdefgh',
    '012345678',
    'bcdefg\\',
    'bcdefgh%4',
    '\\\\\\\\ab',
    '%41%42%43',
  ];
  for (const value of values) {
    const redactor = new SecretRedactor([value]);
    for (const before of ['', '\\', '\\\\', '%', '&', '\u001B[', '\n', '=', '%4', '\\x', '&#4']) {
      for (const after of ['', 'n', '1', ';', '"', '\\', '\n']) {
        const text = `${before}${value}${after}`;
        const clean = redactor.redact(text);
        assert.ok(clean.includes('[redacted]') && !clean.includes(value), JSON.stringify([text, clean]));
        for (const size of [1, 2, 5])
          assert.ok(!streamed(redactor, text, size).includes(value), JSON.stringify([text, size]));
      }
    }
  }
});

test('what only resembles a value stays as it is, with its escapes and colours', () => {
  const redactor = new SecretRedactor([TOKEN, 'hunter2hunter3']);
  const texts = [
    '100 % of \\zebra',
    'C:\\new\\table',
    '&zebra;&quot;',
    '%zz%7',
    '\u001B[31mzebra\u001B[0m',
    'hunter2\nhunter4',
    '7a 65 62 72 00',
  ];
  for (const text of texts) {
    assert.equal(redactor.redact(text), text);
    for (const size of [1, 2, 5]) assert.equal(streamed(redactor, text, size), text);
  }
});

test('the end of a line is not held back for a character with which a value begins', () => {
  const stream = new SecretRedactor(['end-of-secret']).stream();
  assert.equal(stream.push('the end\n'), 'the end\n');
  assert.equal(stream.push('e\n'), 'e\n');
  assert.equal(stream.push('e'), '');
  assert.equal(stream.push('nd-\nof-sec'), '');
  assert.equal(stream.push('ret!'), '[redacted]!');
});

test('what is held back is bounded, whatever a program prints', () => {
  const value = 'abcdefgh-ijklmnop';
  for (const part of [
    '\n',
    '\r\n    ',
    '\u001B[31m',
    '\\',
    ' ',
    '61 ',
    '-',
    '&amp;',
    '%25',
    'abcd',
    'abcdefgh-\n',
    '\\u0061',
    '61 62 63 - - ',
  ]) {
    const stream = new SecretRedactor([value]).stream();
    const text = part.repeat(200);
    let [read, written] = [0, 0];
    for (const beginning of ['abcdefgh-i', '61 62 63 64', 'abcd']) {
      read += beginning.length;
      written += stream.push(beginning).length;
      for (let round = 0; round < 20; round += 1) {
        read += text.length;
        written += stream.push(text).length;
        assert.ok(read - written < 6_000, `${JSON.stringify(part)}: ${read - written}`);
      }
    }
    assert.equal(written + stream.end().length, read, JSON.stringify(part));
  }
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

/** What should become of a text: values that overlap are one, whatever is between them stays. */
function withoutValues(text: string, values: readonly string[]): string {
  const found = values.flatMap((value) =>
    Array.from({ length: text.length }, (_, start) => start)
      .filter((start) => text.startsWith(value, start))
      .map((start) => ({ start, end: start + value.length })),
  );
  let [clean, at] = ['', 0];
  for (const { start, end } of found.toSorted((a, b) => a.start - b.start)) {
    if (start >= at) clean += `${text.slice(at, start)}[redacted]`;
    at = Math.max(at, end);
  }
  return clean + text.slice(at);
}

test('random texts and values in random pieces never leave a value, and lose nothing else', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
  const word = (length: number): string => Array.from({ length }, () => 'ab'.charAt(random(2))).join('');
  for (let round = 0; round < 2_000; round += 1) {
    const values = Array.from({ length: 1 + random(3) }, () => word(4 + random(5)));
    const redactor = new SecretRedactor(values);
    const text = word(60);
    const clean = streamed(redactor, text, 1 + random(9));
    assert.equal(clean, withoutValues(text, values), `${text} of ${values.join()}`);
  }
});

test('looking for large values costs a time that grows with the text and no faster', () => {
  // Each place of the text may be where any of the values begins.
  const redactor = new SecretRedactor(Array.from({ length: 16 }, (_, index) => `${index}`.padStart(32_000, 'x')));
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

test('the backslashes of an escape at the beginning of a value go with it, in pieces of any size', () => {
  const value = '"quoted"-and-secret';
  const redactor = new SecretRedactor([value]);
  const text = `a ${JSON.stringify(JSON.stringify(value))} b`;
  for (let size = 1; size <= text.length; size += 1) {
    const stream = redactor.stream();
    let shown = '';
    for (let at = 0; at < text.length; at += size) shown += stream.push(text.slice(at, at + size));
    assert.equal(shown + stream.end(), 'a "\\"[redacted]\\"" b', String(size));
    assert.equal(stream.hasReplaced, true);
  }
});
