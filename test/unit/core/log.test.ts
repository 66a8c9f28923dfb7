import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '../../../src/core/log.ts';
import { Redactor } from '../../../src/core/redact.ts';

test('a line of JSON has time, level, message and the fields, free of secrets wherever they are', () => {
  const lines: string[] = [];
  const redactor = new Redactor();
  redactor.add('a-secret-key');
  const log = createLogger((_level, line) => lines.push(line), redactor, { format: 'json' });
  const error = new Error('refused a-secret-key', { cause: new Error('Authorization: Bearer another-key-of-mine') });
  log.error('request failed', { route: '/v1/me', error, nested: { key: 'a-secret-key' } });
  assert.equal(lines.length, 1);
  assert.doesNotMatch(lines.join(''), /\n|a-secret-key|another-key/);
  const { time, ...line } = JSON.parse(lines.join('')) as Record<string, unknown>;
  assert.ok(Math.abs(Date.parse(String(time)) - Date.now()) < 60_000);
  assert.deepEqual([line['level'], line['message'], line['route']], ['error', 'request failed', '/v1/me']);
  assert.match(JSON.stringify(line['error']), /refused \[redacted\]/);
});

test('lines below the level are left out', () => {
  const levels: string[] = [];
  const log = createLogger((level) => levels.push(level), new Redactor(), { level: 'warn' });
  log.debug('a');
  log.info('b');
  log.warn('c');
  log.error('d');
  assert.deepEqual(levels, ['warn', 'error']);
});
