import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventIdHeader, isEventId } from '../../../../src/remote/protocol/eventId.ts';

test('an ID can be sent back unless it is long or has a control character', () => {
  for (const id of ['', '7', 'é-🔑', ' ', '~', 'x'.repeat(1_024)]) assert.equal(isEventId(id), true, id);
  for (const id of ['\0', 'a\u001f', '\u007f', 'a\nb', 'x'.repeat(1_025)]) assert.equal(isEventId(id), false, id);
});

test('a header has one character for each byte of an ID', () => {
  assert.equal(eventIdHeader('é7'), 'Ã©7');
});
