import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';
import { FlowFolder } from './support/flowChild.ts';

const SECRETS = {
  FARWHARF_API_KEY: 'fw-the-key-of-the-service',
  AWS_ACCESS_KEY_ID: 'AKIA-of-the-person',
  AWS_SECRET_ACCESS_KEY: 'aws-secret-of-the-person',
  GITHUB_TOKEN: 'ghp-of-the-person',
  OPENAI_API_KEY: 'sk-of-the-person',
  NODE_OPTIONS: '--no-deprecation',
  VSCODE_IPC_HOOK: '/nowhere',
  SOMETHING_ELSE: 'of-the-person',
};

/** Tells the names of the variables that the flow sees, and those that a child of it sees. */
const TELL = `
import { execFileSync } from 'node:child_process';
import { Flow, Node } from 'farwharf/agents';
class Tell extends Node {
  post(shared) {
    shared.own = JSON.stringify(process.env);
    shared.inner = execFileSync(process.execPath, ['-p', 'JSON.stringify(process.env)'], { encoding: 'utf8' });
  }
}
export const flow = new Flow({ start: new Tell(), name: 'F' });
`;

interface TellState {
  readonly own: string;
  readonly inner: string;
}

/** The shared state that a run with --json ended with. */
function sharedOf(stdout: string): unknown {
  const [last = {}] = jsonLines(stdout).slice(-1);
  return (last['outcome'] as { readonly shared?: unknown } | undefined)?.shared;
}

/** A model that answers with the key it was sent. */
async function startModel(): Promise<AsyncDisposable & { readonly baseUrl: string }> {
  const server = createServer((request, response) => {
    const content = `key ${request.headers.authorization}`.replace('sk-', 'sk+');
    const choice = { index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [choice] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    baseUrl,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('the environment of a flow', { timeout: 5 * 60_000 }, () => {
  it('keys, tokens and NODE_OPTIONS of the person reach neither a flow nor its children', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'tell.mjs': TELL });
    const done = await scratch.run(['flow', 'run', 'tell.mjs', '--json'], { cwd, env: SECRETS });
    assert.equal(done.exit, 0, done.stderr);
    const shared = sharedOf(done.stdout) as TellState;
    for (const seen of [shared.own, shared.inner]) {
      const env = JSON.parse(seen) as Record<string, string>;
      assert.deepEqual(
        Object.keys(SECRETS).filter((name) => name in env),
        [],
      );
      assert.equal(env['PATH'], process.env['PATH']);
      assert.equal(env['FARWHARF_HOME'], scratch.home);
    }
  });

  it('a variable that the person names reaches the flow, and no other does', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', { 'tell.mjs': TELL });
    const args = ['flow', 'run', 'tell.mjs', '--env', 'SOMETHING_ELSE', '--env', 'NOT_SET', '--json'];
    const done = await scratch.run(args, { cwd, env: SECRETS });
    assert.equal(done.exit, 0, done.stderr);
    const shared = sharedOf(done.stdout) as TellState;
    const env = JSON.parse(shared.own) as Record<string, string>;
    assert.deepEqual(
      Object.keys({ ...SECRETS, NOT_SET: '' }).filter((name) => name in env),
      ['SOMETHING_ELSE'],
    );
    const odd = await scratch.run(['flow', 'run', 'tell.mjs', '--env', 'A=b'], { cwd, env: SECRETS });
    assert.equal(odd.exit, 2, odd.stderr);
    assert.match(odd.stderr, /--env takes the name of a variable/);
  });

  it('a model of the library works as before, with a key that is in no variable of the flow', async () => {
    await using scratch = await Scratch.create();
    await using model = await startModel();
    const cwd = await scratch.folder('flows', {
      'ask.mjs': `
import { Flow, LLMClient, Node } from 'farwharf/agents';
class Ask extends Node {
  async post(shared) {
    const client = new LLMClient({ provider: 'openai', baseUrl: '${model.baseUrl}' });
    shared.answers = await Promise.all([client.ask('a'), client.ask('b')]);
    shared.names = Object.keys(process.env).filter((name) => name.endsWith('KEY'));
  }
}
export const flow = new Flow({ start: new Ask(), name: 'F' });
`,
    });
    const done = await scratch.run(['flow', 'run', 'ask.mjs', '--json'], { cwd, env: SECRETS });
    assert.equal(done.exit, 0, done.stderr + done.stdout);
    const shared = sharedOf(done.stdout);
    assert.deepEqual(shared, { answers: Array(2).fill('key Bearer [redacted]'), names: [] });
    assert.equal(`${done.stdout}${done.stderr}`.includes(SECRETS.OPENAI_API_KEY), false);
  });

  it('the channel of model keys gives out keys of models and nothing else', async () => {
    await using folder = await FlowFolder.create({
      'ask.mjs': `
import { Flow, LLMClient, Node } from 'farwharf/agents';
class Ask extends Node {
  async post(shared) {
    const host = globalThis[Symbol.for('farwharf.runHost.1')];
    for (const name of ['GITHUB_TOKEN', 'FARWHARF_API_KEY', 'AWS_SECRET_ACCESS_KEY', 'toString', '__proto__'])
      shared[name] = String(await host.modelKey(name));
    await new LLMClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: 'GITHUB_TOKEN' }).ask('who?');
  }
}
export const flow = new Flow({ start: new Ask(), name: 'F' });
`,
    });
    const { outcome, events } = await folder.run('ask.mjs', { env: { ...process.env, ...SECRETS } });
    assert.equal(outcome.type, 'failed');
    assert.match(outcome.error.message, /custom needs an API key\. Set GITHUB_TOKEN/);
    const reported = JSON.stringify(events);
    assert.equal([...reported.matchAll(/"undefined"/g)].length >= 4, true, reported);
    for (const name of ['GITHUB_TOKEN', 'FARWHARF_API_KEY', 'AWS_SECRET_ACCESS_KEY'] as const) {
      assert.equal(reported.includes(SECRETS[name]), false, name);
    }
  });

  it('for a flow that fails because a variable is missing, one sentence says how to pass it on', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', {
      'own.mjs': `
import { Flow, Node } from 'farwharf/agents';
class Own extends Node {
  exec() {
    if (process.env.OPENAI_API_KEY === undefined) throw new Error('Missing credentials.');
  }
}
export const flow = new Flow({ start: new Own(), name: 'F' });
`,
    });
    const done = await scratch.run(['flow', 'run', 'own.mjs'], { cwd, env: SECRETS });
    assert.equal(done.exit, 1);
    assert.match(done.stderr, /OPENAI_API_KEY is set, but flows do not get it: pass it on with --env OPENAI_API_KEY/);
    const passed = await scratch.run(['flow', 'run', 'own.mjs', '--env', 'OPENAI_API_KEY'], { cwd, env: SECRETS });
    assert.equal(passed.exit, 0, passed.stderr);
    const unset = await scratch.run(['flow', 'run', 'own.mjs'], { cwd });
    assert.doesNotMatch(unset.stderr, /--env/);
  });

  it('loading a file for its graph gives it no key either', async () => {
    await using scratch = await Scratch.create();
    const cwd = await scratch.folder('flows', {
      'named.mjs': `
import { Flow, Node } from 'farwharf/agents';
export const flow = new Flow({ start: new Node({ name: Object.keys(process.env).filter((name) => /KEY|TOKEN/.test(name)).join() || 'none' }) });
`,
    });
    const done = await scratch.run(['flow', 'graph', 'named.mjs', '--run', '--json'], { cwd, env: SECRETS });
    assert.equal(done.exit, 0, done.stderr);
    assert.match(done.stdout, /"start":"none"/);
  });
});
