import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createWebSocketStream, WebSocket } from 'ws';
import { parseOwnJson } from '../../../../src/core/jsonFields.ts';
import { JobSources } from '../../../../src/jobs/debug/jobSources.ts';
import { serveInspector } from '../../../../src/jobs/debug/serveInspector.ts';
import { compareLines } from '../../../../src/jobs/source/lineMap.ts';
import { readMessageLines } from '../../../../src/remote/tunnel/messageLines.ts';
import { fieldsOf, listOf } from './debugClient.ts';

const SUBMITTED = { 'a.mjs': 'one\ntwo\nthree\n', 'same.mjs': 'same\n', 'dist/b.js': 'out\n', 'dist/b.js.map': '' };

/** A client that is connected to the debugger of a job, which this test plays. */
async function connected(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-inspector-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.mjs'), 'zero\none\nthree\n');
  writeFileSync(join(folder, 'same.mjs'), 'same\n');
  const submitted = {
    list: async () => Object.keys(SUBMITTED).map((path) => ({ path, size: 1, sha256: '', mode: 0o644 })),
    read: async (_: string, paths: readonly string[]) =>
      new Map(
        Object.entries(SUBMITTED).flatMap(([path, text]) => (paths.includes(path) ? [[path, Buffer.from(text)]] : [])),
      ),
  };
  const sources = new JobSources({
    id: 'job',
    jobFolder: '/job',
    localFolder: folder,
    submitted,
    compare: compareLines,
  });
  const [near, far] = duplexPair();
  const notices: string[] = [];
  const ended = new AbortController();
  t.after(() => ended.abort());
  const url = await serveInspector(
    { port: 0, sources, openDebugger: async () => near, onEvent: (text) => void notices.push(text) },
    ended.signal,
  );
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const fromJob = createWebSocketStream(socket, { readableObjectMode: true })[Symbol.asyncIterator]();
  const toJob = readMessageLines(far);
  const message = async (next: Promise<{ readonly value?: unknown }>) =>
    fieldsOf(JSON.parse(String((await next).value)));
  return {
    folder,
    notices,
    socket,
    url,
    local: (name: string) => pathToFileURL(join(folder, name)).href,
    /** Sends an event of the job, and returns its data as the client gets it. */
    event: async (method: string, params: object) => {
      far.write(`${JSON.stringify({ method, params })}\n`);
      return fieldsOf((await message(fromJob.next()))['params']);
    },
    /** Sends a request, and returns its data as the job gets it. */
    request: async (method: string, params: object) => {
      socket.send(JSON.stringify({ id: 7, method, params }));
      return fieldsOf((await message(toJob.next()))['params']);
    },
    answer: () => message(fromJob.next()),
  };
}

function lineIn(sourceMapUrl: unknown, line: number): readonly unknown[] {
  const [, text = ''] = String(sourceMapUrl).split(',');
  const entry = fieldsOf(new SourceMap(parseOwnJson(Buffer.from(text, 'base64').toString())).findEntry(line, 0));
  return [entry['originalSource'], entry['originalLine']];
}

test('scripts of the job are shown as the files here, with their lines as they are now', async (t) => {
  const { event, request, answer, local, notices, socket } = await connected(t);
  const parsed = async (scriptId: string, url: string, sourceMapURL = '') =>
    event('Debugger.scriptParsed', { scriptId, url, sourceMapURL, endLine: 3 });
  assert.equal((await parsed('1', 'file:///job/same.mjs'))['url'], local('same.mjs'));
  const edited = await parsed('2', 'file:///job/a.mjs');
  assert.equal(edited['url'], 'farwharf-job:/job/a.mjs');
  assert.deepEqual(lineIn(edited['sourceMapURL'], 0), [local('a.mjs'), 1]);
  assert.deepEqual(lineIn(edited['sourceMapURL'], 1), [undefined, undefined]); // was deleted
  assert.deepEqual(lineIn(edited['sourceMapURL'], 2), [local('a.mjs'), 2]);
  assert.ok(notices.some((text) => text.includes('a.mjs was edited after the job was submitted')));
  // A translated script: its line 1 is line 3 of a.mjs as it was submitted.
  const map = JSON.stringify({ version: 3, sources: ['../a.mjs'], names: [], mappings: 'AAEA' });
  const inline = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
  assert.deepEqual(lineIn((await parsed('3', 'file:///job/dist/b.js', inline))['sourceMapURL'], 0), [
    local('a.mjs'),
    2,
  ]);
  const pause = await event('Debugger.paused', {
    callFrames: [{ location: { scriptId: '1' }, scriptId: '1', url: 'x' }],
  });
  assert.equal(listOf(pause['callFrames'])[0]?.['url'], local('same.mjs'));
  const byUrl = 'Debugger.setBreakpointByUrl';
  assert.deepEqual(await request(byUrl, { url: local('a.mjs'), lineNumber: 2 }), {
    url: 'file:///job/a.mjs',
    lineNumber: 2,
  });
  const urlRegex = `^${local('a.mjs').replaceAll(/[.+]/g, String.raw`\$&`)}$`;
  assert.deepEqual(await request(byUrl, { urlRegex, lineNumber: 1 }), { url: 'file:///job/a.mjs', lineNumber: 0 });
  socket.send(JSON.stringify({ id: 8, method: byUrl, params: { url: local('a.mjs'), lineNumber: 0 } })); // a new line
  assert.deepEqual(fieldsOf((await answer())['result'])['locations'], []);
});

test('a job names nothing that a client would open or load, and reports only what a debugger does', async (t) => {
  const { event, local } = await connected(t);
  for (const url of [
    'file:///etc/passwd',
    'file:///job/../etc/passwd',
    'https://example.org/a.js',
    'vscode://x',
    '/home',
  ]) {
    for (const sourceMapURL of ['https://example.org/x.map', 'file:///etc/passwd', '../../../etc/passwd', 'data:,{']) {
      const shown = await event('Debugger.scriptParsed', { scriptId: '9', url, sourceMapURL, debugSymbols: { url } });
      assert.match(String(shown['url']), /^farwharf-job:/);
      assert.deepEqual([shown['sourceMapURL'], shown['debugSymbols']], ['', undefined]);
    }
  }
  const map = {
    version: 3,
    sources: ['file:///etc/passwd', 'https://example.org/'],
    names: [],
    mappings: 'AAAA,CCAA',
    file: 'x',
  };
  const shown = await event('Debugger.scriptParsed', {
    scriptId: '9',
    url: 'file:///job/same.mjs',
    sourceMapURL: `data:,${encodeURIComponent(JSON.stringify(map))}`,
  });
  const [, text = ''] = String(shown['sourceMapURL']).split(',');
  const { sources, file } = fieldsOf(JSON.parse(Buffer.from(text, 'base64').toString()));
  assert.deepEqual([sources, file], [['farwharf-job:/etc/passwd', 'farwharf-job:/job/https:/example.org'], undefined]);
  assert.equal(shown['url'], local('same.mjs'));
  const sent = event('Target.attachedToTarget', {});
  assert.deepEqual(await Promise.race([sent, event('Debugger.resumed', { first: true })]), { first: true });
});

test('nobody connects without the secret path, from a web page, or beside another client', async (t) => {
  const { url } = await connected(t);
  const refused = async (address: string, origin?: string): Promise<void> => {
    const socket = new WebSocket(address, origin === undefined ? {} : { origin });
    await assert.rejects(once(socket, 'open'), /404/);
  };
  await refused(url.slice(0, -1));
  await refused(new URL('/', url).href);
  await refused(url, 'https://example.org');
  await refused(url); // the client of this test is connected
  assert.ok((new URL(url).pathname.length - 1) * 6 >= 128, 'as many bits as nobody can try');
});
