import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/core/log.ts';
import { LLMClient } from '../../../src/agents/chat/llmClient.ts';
import { RAGNode } from '../../../src/agents/rag/ragNode.ts';
import { Redactor, withoutUserinfo } from '../../../src/core/redact.ts';

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

test('a log line contains no secret from any of its fields or causes', () => {
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

test('a password in a URL is removed with characters that should have been encoded, and a path with an @ stays', () => {
  const cases: [string, string][] = [
    ['https://me:p/w?x#y@host/x', 'https://[redacted]@host/x'],
    ['https://me:p@w@host:8080/x', 'https://[redacted]@host:8080/x'],
    ['https://token@host', 'https://[redacted]@host'],
    ['https://:pw@host', 'https://[redacted]@host'],
    ['"postgres://u:pw@db/x", "http://a:b@c"', '"postgres://[redacted]@db/x", "http://[redacted]@c"'],
    ['https://host/@scope/name', 'https://host/@scope/name'],
    ['https://host:8080/@scope/name', 'https://host:8080/@scope/name'],
    ['https://host/?mail=a@b', 'https://host/?mail=a@b'],
  ];
  for (const [text, clean] of cases) assert.equal(withoutUserinfo(text), clean);
});

test('200 kB of beginnings of URLs take no time', () => {
  for (const begin of ['a://', 'a.', 'a://b:c', 'a://@']) {
    assert.ok(withoutUserinfo(`://${begin.repeat(200_000 / begin.length)}`).length > 0);
  }
});

test('an error about an address does not show its password', async () => {
  const password = 'hunter22-secret';
  const node = new RAGNode({ sources: `http://me:${password}@127.0.0.1:1/page` });
  const ragError: unknown = await node.ready.then(
    () => undefined,
    (error: unknown) => error,
  );
  const client = new LLMClient({ baseUrl: `http://me:${password}@127.0.0.1:1/v1`, model: 'm' });
  const modelError: unknown = await client.ask('x', { retries: 0 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  for (const error of [ragError, modelError]) {
    assert.ok(error instanceof Error);
    assert.match(error.message, /127\.0\.0\.1/);
    assert.ok(!error.message.includes(password), error.message);
  }
  assert.throws(
    () => new LLMClient({ baseUrl: `ftp://me:${password}@host/v1` }),
    ({ message }: Error) => !message.includes(password) && message.includes('ftp://[redacted]@host/v1'),
  );
});

test('a secret of six characters counts, a shorter one does not', () => {
  const redactor = new Redactor();
  redactor.add('abcde');
  redactor.add('sixsix');
  assert.equal(redactor.redact('abcde sixsix'), 'abcde [redacted]');
});

test('a bearer token ends at a space, a comma, a semicolon or a quotation mark', () => {
  const redact = (text: string): string => new Redactor().redact(text);
  assert.equal(redact('bearer  a.b-c d'), 'bearer  [redacted] d');
  for (const end of [' ', '"', "'", ',', ';']) assert.equal(redact(`Bearer abc${end}x`), `Bearer [redacted]${end}x`);
  assert.equal(redact('forbearer abc'), 'forbearer abc');
});

test('a key of the job service has forty characters after its beginning, at the start of a word', () => {
  const redact = (text: string): string => new Redactor().redact(text);
  assert.equal(redact(`fw_${'a'.repeat(40)}`), '[redacted]');
  assert.equal(redact(`fw_${'a'.repeat(39)}`), `fw_${'a'.repeat(39)}`);
  assert.equal(redact(`xfw_${'a'.repeat(40)}`), `xfw_${'a'.repeat(40)}`);
});
