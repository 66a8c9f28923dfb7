import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { findNetworkNamespace } from '../../src/flows/run/start/networkNamespace.ts';
import { jsonLines, Scratch, until } from './commandLine.ts';

/** A test as someone else may write it: nothing is recorded, so all of its flow runs live. */
function testOf(file: string): string {
  return JSON.stringify({ about: '', version: 1, file, expect: [], ignore: [], recording: [], models: [] });
}

/** A flow that leaves a file beside itself and prints nothing else. */
const MARKING = `
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Flow, Node } from 'farwharf/agents';
writeFileSync(join(import.meta.dirname, 'ran'), '');
export const flow = new Flow({ start: new Node(), name: 'F' });
`;

/** A flow whose child process fetches an address. */
function fetching(url: string): string {
  return `
import { execFileSync } from 'node:child_process';
import { Flow, Node } from 'farwharf/agents';
class Fetch extends Node {
  exec() {
    const code = 'fetch(process.argv[1]).then(() => console.log("reached"), () => console.log("nothing"))';
    return execFileSync(process.execPath, ['-e', code, '${url}'], { encoding: 'utf8' }).trim();
  }
  post(shared, _, answer) { shared.answer = answer; }
}
export const flow = new Flow({ start: new Fetch(), name: 'F' });
`;
}

/** A flow that waits for ever, as its child does. */
const WAITING = `
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { Flow, Node } from 'farwharf/agents';
class Wait extends Node {
  async exec() {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync('pids.new', process.pid + ' ' + child.pid);
    renameSync('pids.new', 'pids');
    await new Promise(() => setInterval(() => {}, 1000));
  }
}
export const flow = new Flow({ start: new Wait(), name: 'F' });
`;

async function startServer(): Promise<AsyncDisposable & { readonly url: string; readonly requests: () => number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count += 1;
    response.end('here');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: () => count,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('what a flow test may do', { timeout: 5 * 60_000 }, () => {
  it('a test that names a file outside its folder starts nothing, by .., by an absolute path or through links', async () => {
    await using scratch = await Scratch.create();
    const outside = await scratch.folder('outside', { 'evil.mjs': MARKING });
    const cwd = await scratch.folder('tests', {
      'up.flowtest.json': testOf('../outside/evil.mjs'),
      'absolute.flowtest.json': testOf(join(outside, 'evil.mjs')),
      'file.flowtest.json': testOf('link.mjs'),
      'folder.flowtest.json': testOf('linked/evil.mjs'),
    });
    await symlink(join(outside, 'evil.mjs'), join(cwd, 'link.mjs'));
    await symlink(outside, join(cwd, 'linked'));
    const done = await scratch.run(['flow', 'test', '--json'], { cwd });
    assert.equal(existsSync(join(outside, 'ran')), false, done.stdout);
    const verdicts = jsonLines(done.stdout) as { test: string; status: string; error?: string }[];
    assert.equal(verdicts.length, 4);
    for (const { status, error = '' } of verdicts) {
      assert.equal(status, 'failed');
      assert.match(error, /outside the folder of the test/);
    }
    assert.equal(done.exit, 1);
  });

  it('folders behind links are not searched for tests', async () => {
    await using scratch = await Scratch.create();
    const outside = await scratch.folder('outside', { 'evil.mjs': MARKING, 'evil.flowtest.json': testOf('evil.mjs') });
    const cwd = await scratch.folder('tests', { 'own.mjs': MARKING, 'own.flowtest.json': testOf('own.mjs') });
    await symlink(outside, join(cwd, 'linked'));
    const done = await scratch.run(['flow', 'test', '--json'], { cwd });
    assert.deepEqual(
      jsonLines(done.stdout).map(({ test }) => test),
      ['own.flowtest.json'],
    );
    assert.equal(existsSync(join(outside, 'ran')), false);
  });

  it('a child process of a flow test reaches no network where the machine can take it away, and a line says where not', async () => {
    await using scratch = await Scratch.create();
    await using server = await startServer();
    const cwd = await scratch.folder('flows', {
      'fetch.mjs': fetching(server.url),
      'fetch.flowtest.json': testOf('fetch.mjs'),
    });
    const namespace = await findNetworkNamespace(process.env);
    const done = await scratch.run(['flow', 'test'], { cwd });
    if (namespace.type === 'none') {
      assert.match(done.stderr, /can reach the network/);
      return;
    }
    assert.doesNotMatch(done.stderr, /can reach the network/);
    assert.match(done.stdout, /nothing/);
    assert.equal(server.requests(), 0);
    const live = await scratch.run(['flow', 'test', '--update'], { cwd });
    assert.equal(server.requests(), 1, `${live.stdout}${live.stderr}`);
  });

  for (const program of ['bwrap', 'unshare']) {
    it(`an interrupted test leaves no process behind in a namespace of ${program}`, async (t) => {
      await using scratch = await Scratch.create();
      const found = ['/usr/bin', '/bin'].map((folder) => join(folder, program)).find((path) => existsSync(path));
      const bin = await scratch.folder('bin', {});
      if (found !== undefined) await symlink(found, join(bin, program));
      const env = { PATH: bin };
      if ((await findNetworkNamespace(env)).type === 'none') return t.skip(`${program} does not work here`);
      const cwd = await scratch.folder('flows', {
        'wait.mjs': WAITING,
        'wait.flowtest.json': testOf('wait.mjs'),
      });
      const pids = join(cwd, 'pids');
      const running = new AbortController();
      const done = scratch.run(['flow', 'test'], { cwd, env, signal: running.signal });
      await until(() => existsSync(pids));
      running.abort();
      assert.equal((await done).exit, 130);
      for (const pid of (await readFile(pids, 'utf8')).split(' ')) {
        await until(() => processIdentity(Number(pid)) === undefined);
      }
    });
  }

  it('without a program that makes namespaces the tests run, and one line says what stays open', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', {
      'a.mjs': MARKING,
      'a.flowtest.json': testOf('a.mjs'),
      'b.flowtest.json': testOf('a.mjs'),
    });
    const done = await scratch.run(['flow', 'test'], { cwd, env: { PATH: scratch.root } });
    assert.equal(existsSync(join(cwd, 'ran')), true);
    assert.equal(done.stderr.match(/can reach the network/g)?.length, 1, done.stderr);
  });
});
