import assert from 'node:assert/strict';
import { test } from 'node:test';
import { debugConfiguration } from '../../src/flows/run/start/debugConfiguration.ts';
import { FlowFolder, RUNTIME } from './support/flowChild.ts';

const FLOW = `import { Flow, Node } from 'farwharf/agents';
class Only extends Node<{ text?: string }> {
  override post(shared: { text?: string }): void {
    const text: string = 'stopped here';
    shared.text = text;
  }
}
export const flow = new Flow<{ text?: string }>({ start: new Only(), name: 'F' });
`;

/** The part of a debugger that a breakpoint needs. */
class Debugger {
  readonly #socket: WebSocket;
  #lastId = 0;
  readonly paused: Promise<number>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.paused = new Promise((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        const { method, params } = JSON.parse(String(data)) as {
          method?: string;
          params?: { callFrames?: { location: { lineNumber: number } }[] };
        };
        if (method === 'Debugger.paused') resolve(params?.callFrames?.[0]?.location.lineNumber ?? -1);
      });
    });
  }

  static async attach(url: string): Promise<Debugger> {
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
    return new Debugger(socket);
  }

  send(method: string, params: object = {}): void {
    this.#lastId += 1;
    this.#socket.send(JSON.stringify({ id: this.#lastId, method, params }));
  }

  close(): void {
    this.#socket.close();
  }
}

test('a debugger attaches before the first line, and a breakpoint in a TypeScript hook hits at its line', {
  timeout: 10 * 60_000,
}, async () => {
  await using folder = await FlowFolder.create({ 'harbour.ts': FLOW });
  let line: number | undefined;
  const { outcome, events, output } = await folder.run('harbour.ts', {
    isDebugged: true,
    onEvent: async (event) => {
      if (event.type !== 'debugger') return;
      const { address, port, type, request } = debugConfiguration(event, 'harbour.ts', RUNTIME);
      assert.deepEqual([type, request, address], ['node', 'attach', '127.0.0.1']);
      const [target] = (await (await fetch(`http://${address}:${port}/json/list`)).json()) as [
        { webSocketDebuggerUrl: string },
      ];
      const debug = await Debugger.attach(target.webSocketDebuggerUrl);
      debug.send('Debugger.enable');
      debug.send('Debugger.setBreakpointByUrl', { lineNumber: 4, urlRegex: '/harbour\\.ts$' });
      debug.send('Runtime.runIfWaitingForDebugger');
      line = await debug.paused;
      debug.send('Debugger.resume');
      debug.close();
    },
  });
  assert.equal(line, 4);
  assert.deepEqual(outcome.type === 'done' && outcome.shared, { text: 'stopped here' });
  assert.ok(events.some(({ type }) => type === 'run'));
  assert.equal(output, '');
});

test('keys, tokens and NODE_OPTIONS of the person reach no debugged flow, nor what it starts', {
  timeout: 10 * 60_000,
}, async () => {
  await using folder = await FlowFolder.create({
    'tell.mjs': `import { execFileSync } from 'node:child_process';
import { Flow, Node } from 'farwharf/agents';
class Tell extends Node {
  post(shared) {
    const inner = execFileSync(process.execPath, ['-p', 'JSON.stringify(process.env)'], { encoding: 'utf8' });
    shared.seen = [process.env, JSON.parse(inner)].map((env) => Object.keys(env).join(' '));
  }
}
export const flow = new Flow({ start: new Tell(), name: 'F' });
`,
  });
  const secrets = {
    FARWHARF_API_KEY: 'fw-the-key-of-the-service',
    GITHUB_TOKEN: 'ghp-of-the-person',
    OPENAI_API_KEY: 'sk-of-the-person',
    NODE_OPTIONS: '--no-deprecation',
    VSCODE_INSPECTOR_OPTIONS: '{}',
  };
  let asked: unknown;
  const { outcome } = await folder.run('tell.mjs', {
    isDebugged: true,
    env: { ...process.env, ...secrets },
    onEvent: async (event) => {
      if (event.type !== 'debugger') return;
      const configuration = debugConfiguration(event, 'tell.mjs', RUNTIME);
      asked = configuration;
      const { address, port } = configuration;
      const [target] = (await (await fetch(`http://${address}:${port}/json/list`)).json()) as [
        { webSocketDebuggerUrl: string },
      ];
      const debug = await Debugger.attach(target.webSocketDebuggerUrl);
      debug.send('Runtime.runIfWaitingForDebugger');
      debug.close();
    },
  });
  assert.equal(outcome.type, 'done', JSON.stringify(outcome));
  const { seen = [] } = outcome.shared as { readonly seen?: readonly string[] };
  assert.equal(seen.length, 2);
  for (const names of seen) {
    assert.deepEqual(
      Object.keys(secrets).filter((name) => names.split(' ').includes(name)),
      [],
    );
    assert.ok(names.split(' ').includes('PATH'));
  }
  assert.doesNotMatch(JSON.stringify(asked), /of-the-person|the-key-of/);
});
