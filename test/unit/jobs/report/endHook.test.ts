import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { endHook, runEndHook } from '../../../../src/jobs/report/endHook.ts';
import type { EndReport } from '../../../../src/jobs/report/endReport.ts';
import { printableLine } from '../../../../src/core/text/printable.ts';
import { makeRecord, tempHome } from '../fixtures.ts';

const HOSTILE = '$(touch pwned) `touch pwned`; touch pwned "\'\n\u0000\u001b[31m';
const RECORD = makeRecord({
  state: 'failed',
  exitCode: 3,
  script: `train.py ${HOSTILE}`,
  project: HOSTILE,
  startedAt: '2026-01-01T00:00:00.000Z',
  finishedAt: '2026-01-01T00:03:00.000Z',
});
const limits = (timeoutMs = 30_000) => ({ signal: new AbortController().signal, env: process.env, timeoutMs });
const node = (program: string, ...args: string[]) => ({ command: [process.execPath, '-e', program, ...args] });

async function serve(t: TestContext, status: number | undefined) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.once('end', () => {
      bodies.push(body);
      if (status === undefined) return;
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('x'.repeat(1_000_000));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, bodies };
}

test('a program gets the report as data, which no shell reads', async (t) => {
  const folder = tempHome(t);
  const out = join(folder, 'out.json');
  const program = `
    process.chdir(process.argv[1]);
    const { FARWHARF_STATE, FARWHARF_SECONDS, FARWHARF_PROJECT, FARWHARF_API_KEY } = process.env;
    const input = require('node:fs').readFileSync(0, 'utf8');
    const report = { variables: [FARWHARF_STATE, FARWHARF_SECONDS, FARWHARF_PROJECT, FARWHARF_API_KEY], input: JSON.parse(input) };
    require('node:fs').writeFileSync(process.argv[2], JSON.stringify(report));`;
  const env = { ...process.env, FARWHARF_API_KEY: 'secret' };
  await runEndHook(node(program, folder, out), RECORD, { ...limits(), env });
  const { variables, input } = JSON.parse(readFileSync(out, 'utf8')) as { variables: string[]; input: EndReport };
  assert.deepEqual(variables.slice(0, 2), ['failed', '180']);
  assert.match(variables[2] ?? '', /^\$\(touch pwned\) `touch pwned`; touch pwned "'/);
  assert.equal(variables[3], null);
  assert.deepEqual([input.exit_code, input.succeeded, input.job_id], [3, false, RECORD.jobId]);
  assert.match(input.text, /failed \(exit 3\) after 3 min/);
  assert.equal(existsSync(join(folder, 'pwned')), false);
  for (const value of [input.script, input.text, ...variables.slice(0, 3)]) assert.equal(printableLine(value), value);
});

test('a server gets the report as JSON', async (t) => {
  const { url, bodies } = await serve(t, 200);
  await runEndHook({ url }, RECORD, limits());
  assert.equal((JSON.parse(bodies[0] ?? '') as EndReport).state, 'failed');
});

test('a failure says what went wrong, and nothing runs forever', async (t) => {
  const failing = node('console.error("no such channel"); process.exit(4)');
  await assert.rejects(runEndHook(failing, RECORD, limits()), /It ended with status 4\. no such channel$/);
  await assert.rejects(runEndHook(node('process.exit(4)'), RECORD, limits()), /It ended with status 4\.$/);
  await assert.rejects(runEndHook({ command: ['/nowhere/notify'] }, RECORD, limits()), /nowhere\/notify: .*ENOENT/);
  const endless = node('setInterval(() => {}, 1000)');
  await assert.rejects(runEndHook(endless, RECORD, limits(300)), /did not end within 0\.3 s/);
  const refusing = await serve(t, 500);
  await assert.rejects(runEndHook({ url: refusing.url }, RECORD, limits()), /answered with status 500/);
  const silent = await serve(t, undefined);
  await assert.rejects(runEndHook({ url: silent.url }, RECORD, limits(300)), /did not respond within 0\.3 s/);
  const moving = await serve(t, 307);
  await assert.rejects(runEndHook({ url: moving.url }, RECORD, limits()));
});

test('a hook is a program with arguments or a secure URL, nothing else', () => {
  const isHook = (value: unknown): boolean => endHook.safeParse(value).success;
  assert.ok(isHook({ command: ['notify-send', 'Job ended'] }) && isHook({ url: 'https://chat.example.org/hook' }));
  assert.ok(isHook({ url: 'http://127.0.0.1:8080/' }));
  const wrong = [
    'notify-send',
    { command: 'notify-send' },
    { command: [] },
    { url: 'http://chat.example.org/' },
    { url: 'file:///etc/passwd' },
  ];
  for (const value of [
    ...wrong,
    {},
    { url: 'https://ada:secret@example.org/' },
    { url: 'https://ada@example.org/' },
    { url: 'https://:secret@example.org/' },
  ])
    assert.equal(isHook(value), false, JSON.stringify(value));
});
