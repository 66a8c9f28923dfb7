import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, LOG_LEVELS, type LogLevel } from '../../../src/core/log.ts';
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

test('a line of text is the sentence, with its fields as JSON if there are any', () => {
  const lines: [string, string][] = [];
  const log = createLogger((level, line) => lines.push([level, line]));
  log.debug('started');
  log.info('started', {});
  log.warn('slow', { ms: 5, job: 'a' });
  log.error('password https://me:pw@host');
  assert.deepEqual(lines, [
    ['debug', 'started'],
    ['info', 'started {}'],
    ['warn', 'slow {"ms":5,"job":"a"}'],
    ['error', 'password https://[redacted]@host'],
  ]);
});

test('an error in a field is its stack, with its causes', () => {
  const lines: string[] = [];
  const log = createLogger((_level, line) => lines.push(line));
  const cause = Object.assign(new Error('inner'), { stack: 'Error: inner\n  there' });
  const outer = Object.assign(new Error('outer', { cause }), { stack: 'Error: outer\n  here' });
  log.info('failed', { error: cause });
  log.info('failed', { error: outer });
  log.info('failed', { error: Object.assign(new Error('x', { cause: 'text' }), { stack: 'x' }) });
  assert.deepEqual(lines, [
    String.raw`failed {"error":"Error: inner\n  there"}`,
    String.raw`failed {"error":{"error":"Error: outer\n  here","cause":"Error: inner\n  there"}}`,
    'failed {"error":{"error":"x","cause":"text"}}',
  ]);
});

test('a level includes itself and those above it, and JSON has one object for each line', () => {
  const countAt = (level: LogLevel): number => {
    let count = 0;
    const log = createLogger(() => (count += 1), new Redactor(), { level, format: 'json' });
    for (const each of LOG_LEVELS) log[each]('x');
    return count;
  };
  assert.deepEqual(LOG_LEVELS.map(countAt), [4, 3, 2, 1]);
  const lines: string[] = [];
  createLogger((_level, line) => lines.push(line), new Redactor(), { format: 'json' }).info('sentence');
  assert.match(lines[0] ?? '', /^\{"time":"\d{4}-\d\d-\d\dT[\d:.]+Z","level":"info","message":"sentence"\}$/);
});
