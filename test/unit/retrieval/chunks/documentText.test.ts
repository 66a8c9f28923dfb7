import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import { test } from 'node:test';
import { decodeText, notebookText } from '../../../../src/retrieval/chunks/documentText.ts';

const TEXT = 'const größe = "naïve"; // Ω\r\n\tline two\n'.repeat(300);
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

test('text is read in the encoding that it has', () => {
  assert.equal(decodeText(Buffer.from(TEXT)), TEXT);
  assert.equal(decodeText(Buffer.from(`\ufeff${TEXT}`)), TEXT);
  assert.equal(decodeText(utf16(`\ufeff${TEXT}`)), TEXT);
  assert.equal(decodeText(utf16(`\ufeff${TEXT}`).swap16()), TEXT);
  assert.equal(decodeText(utf16(TEXT)), TEXT, 'without a mark');
  assert.equal(decodeText(utf16(TEXT).swap16()), TEXT, 'without a mark');
  assert.equal(decodeText(Buffer.from('caf\xe9', 'latin1')), 'café');
  assert.equal(decodeText(new Uint8Array()), '');
});

test('lone surrogates and half characters are no error', () => {
  assert.match(decodeText(Buffer.from('zebra \xed\xa0\x80', 'latin1')) ?? '', /^zebra /);
  assert.match(decodeText(utf16(`${TEXT}\ud800 zebra`)) ?? '', /zebra$/);
  assert.match(decodeText(Buffer.concat([utf16(`${TEXT}zebra`), Buffer.from('x')])) ?? '', /zebra/);
});

test('binary data is not text, even where it has a zero in each second byte', () => {
  assert.equal(decodeText(randomFillSync(new Uint8Array(20_000))), undefined);
  assert.equal(decodeText(new Uint8Array(5000)), undefined);
  assert.equal(decodeText(Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13])), undefined);
  assert.equal(decodeText(Buffer.from('a\0b')), undefined, 'too little to tell');
  const counts = Uint16Array.from({ length: 5000 }, (_, at) => at % 200);
  assert.equal(decodeText(new Uint8Array(counts.buffer)), undefined);
  const doubles = Float64Array.from({ length: 1000 }, (_, at) => at);
  assert.equal(decodeText(new Uint8Array(doubles.buffer)), undefined);
  assert.equal(decodeText(Buffer.from('%PDF-1.7\n%text')), undefined);
});

test('what is no text in a notebook is left out, however it is nested', () => {
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const cells = `{"source": {"toString": 1}}, {"source": ["a\\n", ${deep}, "b"], "cell_type": "code"}, {"source": "c"}, ${deep}, 1`;
  const text = notebookText(`{"cells": [${cells}]}`, 'a.ipynb');
  assert.equal(text, '# %% [markdown]\n\n\n# %%\na\nb\n\n# %% [markdown]\nc');
  for (const broken of ['', '[]', '{"cells": 1}', deep])
    assert.throws(() => notebookText(broken, 'a.ipynb'), { name: 'AppError', code: 'corrupt' });
});
