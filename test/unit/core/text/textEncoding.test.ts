import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detectEncoding } from '../../../../src/core/text/textEncoding.ts';

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');

test('a byte order mark decides, in either order', () => {
  assert.equal(detectEncoding(Uint8Array.of(0xff, 0xfe)), 'utf-16le');
  assert.equal(detectEncoding(Uint8Array.of(0xfe, 0xff, 0, 65)), 'utf-16be');
  assert.equal(detectEncoding(Uint8Array.of(0xff, 0xff)), 'bytes');
});

test('text without NUL is bytes, and with NUL it is UTF-16 of Latin script or binary', () => {
  assert.equal(detectEncoding(Buffer.from('grüße')), 'bytes');
  assert.equal(detectEncoding(new Uint8Array()), 'bytes');
  assert.equal(detectEncoding(utf16('some text')), 'utf-16le');
  assert.equal(detectEncoding(utf16('some text').swap16()), 'utf-16be');
  assert.equal(detectEncoding(Buffer.from('PK\0\0\u0001\u0002 data')), 'binary');
});

test('few zeros, zeros among other scripts, and control characters are no UTF-16', () => {
  assert.equal(detectEncoding(utf16('abc')), 'binary');
  assert.equal(detectEncoding(utf16('abcd')), 'utf-16le');
  assert.equal(detectEncoding(utf16('abcd日本語日本語')), 'binary');
  assert.equal(detectEncoding(utf16('abcd\u0001')), 'binary');
});

test('only the first bytes are looked at', () => {
  assert.equal(detectEncoding(Buffer.from(`${'a'.repeat(8_000)}\0`)), 'bytes');
  assert.equal(detectEncoding(Buffer.from(`${'a'.repeat(7_999)}\0`)), 'binary');
});

test('half of the code units must have a zero byte, and the other bytes none', () => {
  assert.equal(detectEncoding(utf16('abcd日本語日')), 'utf-16le');
  assert.equal(detectEncoding(utf16('abcd日本語日').swap16()), 'utf-16be');
  assert.equal(detectEncoding(utf16('abcd日本語日本')), 'binary');
  assert.equal(detectEncoding(Buffer.concat([utf16('abcdefgh'), Buffer.from([0, 65])])), 'binary');
  assert.equal(detectEncoding(utf16('abc')), 'binary');
  assert.equal(detectEncoding(utf16('tab\tand\nline')), 'utf-16le');
  assert.equal(detectEncoding(Uint8Array.of(0xfe, 0xfe)), 'bytes');
  assert.equal(detectEncoding(Uint8Array.of(65, 0xff)), 'bytes');
});
