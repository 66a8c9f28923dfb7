import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/core/log.ts';
import { Redactor } from '../../../src/core/redact.ts';

const KEY = 'fw_key/3f9a+77';

test('a known secret is removed in plain, base64 and URL-encoded form', () => {
  const redactor = new Redactor();
  redactor.add(KEY);
  for (const form of [KEY, Buffer.from(KEY).toString('base64'), encodeURIComponent(KEY)]) {
    assert.equal(redactor.redact(`before ${form} after`), 'before [redacted] after');
  }
});

test('bearer tokens and passwords in URLs are removed even when nobody registered them', () => {
  const redactor = new Redactor();
  assert.equal(redactor.redact('Authorization: Bearer abc.def'), 'Authorization: Bearer [redacted]');
  assert.equal(redactor.redact('https://me:pw@host/x'), 'https://[redacted]@host/x');
});

test('keys of the job service are removed even when nobody registered them', () => {
  const key = `fw_${'aZ09_-'.repeat(7)}x`;
  assert.equal(new Redactor().redact(`{"requestId":"${key}"}`), '{"requestId":"[redacted]"}');
  assert.equal(new Redactor().redact('fw_short and fw_key'), 'fw_short and fw_key');
});

test('a log line holds no secret, wherever in its fields or causes it was', () => {
  const lines: string[] = [];
  const redactor = new Redactor();
  redactor.add(KEY);
  const log = createLogger((_level, line) => lines.push(line), redactor);
  log.error('upload failed', {
    url: `https://x/?k=${KEY}`,
    error: new Error('outer', { cause: new Error(`bad key ${KEY}`) }),
  });
  assert.equal(lines.length, 1);
  assert.ok(!lines[0]?.includes(KEY));
  assert.match(lines[0] ?? '', /^upload failed \{.*outer.*bad key \[redacted\]/);
});
