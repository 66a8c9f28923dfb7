import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import type { FlowOutcome } from '../../src/flows/run/protocol/flowOutcome.ts';
import { findChoice } from '../../src/flows/graph/flowChoice.ts';
import { readFlows } from '../../src/flows/project/flowProject.ts';
import { runFlow } from '../../src/flows/run/start/runFlow.ts';
import { COUNTER, FlowFolder, RUNTIME } from './support/flowChild.ts';

const NODES = `import { Flow, Node } from 'farwharf/agents';\n`;
const oneNode = (hook: string, rest = ''): string =>
  `${NODES}class Only extends Node { ${hook} }\nexport const flow = new Flow({ start: new Only(), name: 'F' });\n${rest}`;

function messageOf(outcome: FlowOutcome): string {
  assert.ok(outcome.type === 'failed' || outcome.type === 'refused', `the outcome is ${JSON.stringify(outcome)}`);
  return outcome.error.message;
}

// Most of the time is the start of processes and the waits for those that will not end.
describe('flow files run in a child', { concurrency: 3, timeout: 10 * 60_000 }, () => {
  it('an exported flow runs with the given shared state, and reports each step', async () => {
    await using folder = await FlowFolder.create({ 'counter.mjs': COUNTER });
    const { outcome, runEvents } = await folder.run('counter.mjs', { shared: { goal: 2 } });
    assert.deepEqual(outcome, {
      type: 'done',
      action: undefined,
      shared: { goal: 2, count: 2, text: 'counted to 2' },
      exitCode: 0,
    });
    const ends = runEvents.flatMap((event) => (event.type === 'node-end' ? [`${event.path} ${event.action}`] : []));
    assert.deepEqual(ends, ['Counter/Add again', 'Counter/Add enough', 'Counter/Tell undefined']);
    const changes = runEvents.flatMap((event) => (event.type === 'state' ? event.changes : []));
    assert.deepEqual(changes.at(-1), { op: 'set', path: ['text'], value: 'counted to 2' });
  });

  it('a flow describes answers with zod where zod is not installed', async () => {
    await using folder = await FlowFolder.create({
      'schema.mjs': `import * as z from 'zod';\n${oneNode("exec() { return z.object({ port: z.string() }).parse({ port: 'Bergen' }); } post(shared, _, found) { Object.assign(shared, found); }")}`,
    });
    const { outcome } = await folder.run('schema.mjs');
    assert.deepEqual(outcome.type === 'done' && outcome.shared, { port: 'Bergen' });
  });

  it('a file that runs its flow itself runs it once, with the keys that are given', async () => {
    await using folder = await FlowFolder.create({
      'awaited.mjs': `${COUNTER}await counter.run({ goal: 1 });`,
      'floating.mjs': `${COUNTER}async function main() { await new Promise((r) => setTimeout(r, 50)); await counter.run({ goal: 1 }); }\nmain();`,
      'guarded.mjs': `${COUNTER}if (import.meta.main) await counter.run({ goal: 1 });`,
      'only.ts': `${COUNTER.replace('export const counter', 'const counter: Flow')}if (import.meta.main) await counter.run({ goal: 1 });`,
      'asked.mjs': `${COUNTER}if (process.argv[1].endsWith('asked.mjs')) await counter.run({ goal: 1 });`,
    });
    for (const name of ['awaited.mjs', 'floating.mjs', 'guarded.mjs', 'only.ts', 'asked.mjs']) {
      const { outcome, runEvents } = await folder.run(name, { shared: { goal: 2 } });
      assert.equal(outcome.type, 'done', name);
      assert.equal(runEvents.filter(({ type }) => type === 'run-start').length, 1, name);
      assert.deepEqual(outcome.type === 'done' && outcome.shared, { goal: 2, count: 2, text: 'counted to 2' }, name);
    }
  });

  it('a run that skips the code under import.meta.main says so, unless it was given a shared state', async () => {
    await using folder = await FlowFolder.create({
      'guarded.mjs': `${oneNode('')}if (import.meta.main) await flow.run({ goal: 1 });`,
      'only.mjs': `${oneNode('').replace('export const', 'const')}if (import.meta.main) await flow.run({ goal: 1 });`,
      'own.mjs': oneNode('', 'await flow.run({ goal: 1 });'),
    });
    const notesOf = async (name: string, shared?: object) =>
      (await folder.run(name, { ...(shared && { shared: { ...shared } }) })).notes;
    const [note = '', ...others] = await notesOf('guarded.mjs');
    assert.match(note, /^The code under import\.meta\.main was skipped, because .* use --shared JSON\.$/);
    assert.deepEqual(others, []);
    assert.deepEqual(await notesOf('guarded.mjs', { goal: 1 }), []);
    assert.deepEqual(await notesOf('only.mjs'), []);
    assert.deepEqual(await notesOf('own.mjs'), []);
  });

  it('a given key that is called __proto__ is a key like the others', async () => {
    const hook = `post(shared) { shared.seen = [shared.isAdmin, Object.keys(shared).join()]; }`;
    await using folder = await FlowFolder.create({
      'exported.mjs': oneNode(hook),
      'awaited.mjs': oneNode(hook, 'await flow.run({});'),
    });
    const shared = JSON.parse('{"topic":"tides","__proto__":{"isAdmin":true}}') as Record<string, unknown>;
    for (const name of ['exported.mjs', 'awaited.mjs']) {
      const { outcome } = await folder.run(name, { shared });
      const seen = outcome.type === 'done' && JSON.stringify(outcome.shared);
      assert.match(String(seen), /"seen":\[\{"\$":"undefined","text":"undefined"\},"topic,__proto__"\]/, name);
    }
  });

  it('a flow is chosen by its variable or its name, also an unnamed one that the file runs itself', async () => {
    const text = `${COUNTER.replace(", name: 'Counter'", '')}
      const second = new Flow({ start: tell, name: 'Second' }).connect(tell, null);
      await counter.run({ goal: 1 });\nawait second.run({ count: 7 });`;
    await using folder = await FlowFolder.create({ 'own.mjs': text });
    const { flows } = readFlows('own.mjs', text, { read: () => undefined, version: () => undefined });
    for (const name of ['counter', 'Flow', 'second', 'Second']) {
      const { outcome, runEvents } = await folder.run('own.mjs', {
        ...findChoice({ flows }, name),
        shared: { extra: 1 },
      });
      assert.equal(outcome.type, 'done', name);
      const given = runEvents.flatMap((event) =>
        event.type === 'run-start' && JSON.stringify(event.state).includes('extra') ? [event.name] : [],
      );
      assert.deepEqual(given, [/second/i.test(name) ? 'Second' : 'Flow'], name); // the input is the chosen flow's alone
    }
    const other = await folder.run('own.mjs', { flow: 'third' });
    assert.match(messageOf(other.outcome), /runs the flow "Flow" itself/);
  });

  it('a class, a function that gives a flow and a default export are found; several are listed', async () => {
    await using folder = await FlowFolder.create({
      'class.mjs': `${NODES}export class Empty extends Flow { constructor() { super({ start: new Node({ name: 'A' }) }); } }`,
      'maker.mjs': `${COUNTER.replace('export const counter', 'const counter')}export async function createFlow() { return counter; }`,
      'default.mjs': `${COUNTER}export default counter;\nexport const other = new Flow({ start: new Node() });`,
      'several.mjs': `${COUNTER}export const other = new Flow({ start: new Node(), name: 'Other' });`,
      'none.mjs': `export const x = 1;`,
    });
    for (const name of ['class', 'maker', 'default']) {
      assert.equal((await folder.run(`${name}.mjs`)).outcome.type, 'done', name);
    }
    const several = await folder.run('several.mjs');
    assert.match(messageOf(several.outcome), /exports several flows: counter, other. Choose one/);
    const chosen = await folder.run('several.mjs', { flow: 'other' });
    assert.equal(chosen.runEvents[0]?.type === 'run-start' && chosen.runEvents[0].name, 'Other');
    assert.match(messageOf((await folder.run('several.mjs', { flow: 'third' })).outcome), /no flow "third"/);
    assert.match(
      messageOf((await folder.run('none.mjs')).outcome),
      /exports no flow \(its exports: x\).*Export the flow/,
    );
    assert.match(messageOf((await folder.run('gone.mjs')).outcome), /The file .*gone\.mjs does not exist/);
  });

  it('imports without extension, of .js for .ts, of folders, and of types that do not say so, and enums work', async () => {
    await using folder = await FlowFolder.create({
      'flow.ts': `${NODES}import { Kind } from './kind.js';\nimport { word } from './word';\nimport { many } from './lib';
import { Shared } from './shared';
class Only extends Node<Shared> { override post(shared: Shared): void { shared.text = Kind.Ship + word + many; } }
export const flow = new Flow<Shared>({ start: new Only() });`,
      'shared.ts': `export interface Shared { text: string }`,
      'kind.ts': `import { Shared } from './shared';\nexport const start: Shared = { text: '' };\nexport enum Kind { Ship = 'ship' }\nexport namespace Deep { export const x = 1; }`,
      'word.ts': `export const word: string = 'word';`,
      'lib/index.ts': `export const many: number = 3;`,
    });
    const { outcome, notes } = await folder.run('flow.ts');
    assert.deepEqual(outcome.type === 'done' && outcome.shared, { text: 'shipword3' });
    assert.match(notes.join('\n'), /kind\.ts uses TypeScript syntax that Node\.js cannot run .*transformed/);
  });

  it('a missing package, a missing file and a syntax error say what to do and where', async () => {
    await using folder = await FlowFolder.create({
      'package.mjs': `${NODES}import x from '@acme/left-pad/sub';`,
      'alias.mjs': `import x from '@/lib/x';`,
      'file.mjs': `import x from './nowhere';`,
      'syntax.ts': `${NODES}export const x: = 1;`,
      'syntax.mjs': `${NODES}\nexport const = 1;`,
      'types.ts': `${NODES}export { Shared } from './shared';`,
      'shared.ts': `export interface Shared {}`,
      'jsx.mjs': `import './view.tsx';`,
      'view.tsx': `export const a = <b/>;`,
    });
    const refusal = async (file: string): Promise<string> => {
      const { outcome } = await folder.run(file);
      assert.equal(outcome.type, 'refused', JSON.stringify(outcome));
      return messageOf(outcome);
    };
    assert.match(await refusal('package.mjs'), new RegExp(`npm install @acme/left-pad\` in ${folder.path}`));
    assert.match(await refusal('alias.mjs'), /alias, not a package/);
    assert.match(await refusal('file.mjs'), /file\.mjs imports "\.\/nowhere", but that file does not exist/);
    assert.match(await refusal('syntax.ts'), /syntax\.ts is not valid TypeScript/);
    assert.match(await refusal('types.ts'), /export named 'Shared'\. If it is a type, write `export type`\.$/);
    assert.match(await refusal('jsx.mjs'), /contains JSX/);
    const { outcome } = await folder.run('syntax.mjs');
    assert.deepEqual(outcome.type === 'refused' && outcome.error.place, {
      file: join(folder.path, 'syntax.mjs'),
      line: 3,
      column: 14,
    });
  });

  it('an error has its place and its node, and a thrown string is one too', async () => {
    await using folder = await FlowFolder.create({
      'error.ts': oneNode(`\n  exec(): void {\n    throw new Error('no harbour');\n  }`),
      'string.mjs': oneNode(`exec() { throw 'just text'; }`),
      'object.mjs': oneNode(`exec() { throw { code: 7 }; }`),
      'load.mjs': `throw new Error('at once');`,
      'later.mjs': oneNode('exec() {}', `setTimeout(() => { throw new Error('later'); }, 300);`),
    });
    const { outcome } = await folder.run('error.ts');
    assert.equal(messageOf(outcome), 'no harbour');
    assert.deepEqual(outcome.type === 'failed' && outcome.error.place, {
      file: join(folder.path, 'error.ts'),
      line: 4,
      column: 11,
    });
    assert.equal(outcome.type === 'failed' && outcome.error.path, 'F/Only');
    assert.equal(messageOf((await folder.run('string.mjs')).outcome), 'just text');
    assert.equal(messageOf((await folder.run('object.mjs')).outcome), '{"code":7}');
    assert.equal(messageOf((await folder.run('load.mjs')).outcome), 'at once');
    assert.equal(messageOf((await folder.run('later.mjs')).outcome), 'later');
  });

  it('process.exit, termination by a signal and an endless wait are distinguished', async () => {
    await using folder = await FlowFolder.create({
      'exit.mjs': oneNode(`exec() { process.exit(3); }`),
      'killed.mjs': oneNode(
        `exec() { process.kill(process.pid, 'SIGKILL'); return new Promise(() => setInterval(() => {}, 1000)); }`,
      ),
      'stuck.mjs': oneNode(`exec() { return new Promise(() => {}); }`),
      'after.mjs': `${COUNTER}await counter.run({});\nprocess.exit(0);`,
    });
    assert.deepEqual((await folder.run('exit.mjs')).outcome, { type: 'exited', code: 3 });
    assert.deepEqual((await folder.run('killed.mjs')).outcome, { type: 'killed', signal: 'SIGKILL' });
    assert.deepEqual((await folder.run('stuck.mjs')).outcome, { type: 'exited', code: 13 });
    assert.equal((await folder.run('after.mjs')).outcome.type, 'done');
  });

  it('open handles are named, and do not keep the run from ending', async () => {
    await using folder = await FlowFolder.create({
      'open.mjs': oneNode(
        'exec() {}',
        `import { createServer } from 'node:http';\ncreateServer().listen(0);\nsetInterval(() => {}, 1000);`,
      ),
    });
    const { outcome, notes } = await folder.run('open.mjs');
    assert.equal(outcome.type, 'done');
    assert.match(notes.join('\n'), /left a listening server, a timer open/);
  });

  it('a stop ends the child and its children, even those that ignore it', async () => {
    const script = `process.on('SIGTERM', () => {}); process.stdout.write('ready'); setInterval(() => {}, 1000)`;
    await using folder = await FlowFolder.create({
      'endless.mjs': oneNode(`exec() { console.log('begun'); for (;;); }`),
      'children.mjs': oneNode(
        `exec() { const child = spawn(process.execPath, ['-e', ${JSON.stringify(script)}], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] }); child.stdout.once('data', () => console.log('pid ' + child.pid)); return new Promise(() => setInterval(() => {}, 1000)); }`,
        `import { spawn } from 'node:child_process';`,
      ),
    });
    for (const file of ['endless.mjs', 'children.mjs']) {
      const stop = new AbortController();
      let grandchild = 0;
      const { outcome } = await folder.run(file, {
        signal: stop.signal,
        onEvent: (event) => {
          if (event.type !== 'output') return;
          grandchild = Number(event.text.replace('pid ', ''));
          stop.abort();
        },
      });
      assert.deepEqual(outcome, { type: 'stopped' });
      if (file === 'children.mjs') {
        assert.ok(grandchild > 0);
        assert.equal(processIdentity(grandchild), undefined, 'the grandchild still runs');
      }
    }
  });

  it('a child that prints for ever is slowed down by its reader and costs no memory', async () => {
    await using folder = await FlowFolder.create({
      'noisy.mjs': oneNode(
        `async exec() { const line = 'x'.repeat(999) + '\\n'; for (let lines = 1; ; lines++) { if (lines % 100 === 0) writeFileSync('lines', String(lines)); if (!process.stdout.write(line)) await new Promise((r) => process.stdout.once('drain', r)); } }`,
        `import { writeFileSync } from 'node:fs';`,
      ),
      'line.mjs': oneNode(`exec() { process.stdout.write('y'.repeat(300_000)); }`),
    });
    const stop = new AbortController();
    const printed = async (): Promise<number> => Number(await readFile(join(folder.path, 'lines'), 'utf8'));
    let lines = 0;
    let ahead = Number.POSITIVE_INFINITY;
    const outcome = await runFlow(
      RUNTIME,
      { file: join(folder.path, 'noisy.mjs'), cwd: folder.path, env: process.env },
      {
        signal: stop.signal,
        onEvent: async (event) => {
          if (event.type !== 'output') return;
          lines += 1;
          if (lines !== 2_000) return;
          // Nothing is read meanwhile: it prints what fits into the pipe, and then no more.
          for (let last = -1, now = await printed(); now !== last; now = await printed()) {
            last = now;
            await sleep(300);
          }
          ahead = (await printed()) - lines;
          stop.abort();
        },
      },
    );
    assert.equal(outcome.type, 'stopped');
    assert.ok(ahead < 5_000, `${ahead} lines of a kilobyte were printed and not yet read`);
    const long = await folder.run('line.mjs');
    assert.equal(long.outcome.type, 'done');
    assert.equal(long.output.replaceAll('\n', '').length, 300_000);
  });

  it('100 MB of output arrive whole', async () => {
    await using folder = await FlowFolder.create({
      'much.mjs': oneNode(
        `async exec() { const block = ('z'.repeat(99) + '\\n').repeat(10_000); for (let i = 0; i < 100; i++) { if (!process.stdout.write(block)) await new Promise((r) => process.stdout.once('drain', r)); } }`,
      ),
    });
    let characters = 0;
    const outcome = await runFlow(
      RUNTIME,
      { file: join(folder.path, 'much.mjs'), cwd: folder.path, env: process.env },
      {
        signal: new AbortController().signal,
        onEvent: (event) => {
          if (event.type === 'output') characters += event.text.length + 1;
        },
      },
    );
    assert.equal(outcome.type, 'done');
    assert.equal(characters, 100e6);
  });

  it('a flow of many visits waits for a slow watcher, and reports all of them', async () => {
    await using folder = await FlowFolder.create({ 'counter.mjs': COUNTER });
    let ends = 0;
    const { outcome } = await folder.run('counter.mjs', {
      shared: { goal: 20_000 },
      onEvent: (event) => {
        if (event.type !== 'run' || event.event.type !== 'node-end') return undefined;
        ends += 1;
        return ends % 5_000 === 0 ? sleep(20) : undefined;
      },
    });
    assert.equal(outcome.type, 'done');
    assert.equal(ends, 20_001);
  });

  it('a shared state with cycles, BigInt and functions is shown as such', async () => {
    await using folder = await FlowFolder.create({
      'odd.mjs': oneNode(`post(shared) { shared.self = shared; shared.big = 1n; shared.call = () => {}; }`),
    });
    const { outcome } = await folder.run('odd.mjs');
    assert.deepEqual(outcome.type === 'done' && outcome.shared, {
      self: { $: 'cycle', text: 'shared' },
      big: { $: 'bigint', text: '1n' },
      call: { $: 'function', text: 'function' },
    });
  });

  it('keys of the environment do not get into events', async () => {
    await using folder = await FlowFolder.create({
      'leak.mjs': oneNode(
        `post(shared) { shared.text = process.env.ACME_API_KEY; throw new Error(process.env.ACME_API_KEY); }`,
      ),
    });
    const { events } = await folder.run('leak.mjs', {
      env: { ...process.env, ACME_API_KEY: 'very-secret-1' },
      variables: ['ACME_API_KEY'],
    });
    assert.equal(JSON.stringify(events).includes('very-secret-1'), false);
    assert.equal(JSON.stringify(events).includes('[redacted]'), true);
  });

  it("the folder's own library is taken where there is one", async () => {
    await using folder = await FlowFolder.create({
      'node_modules/farwharf/package.json': JSON.stringify({
        name: 'farwharf',
        version: '9.9.9',
        exports: { './agents': './agents.mjs' },
      }),
      'node_modules/farwharf/agents.mjs': `export * from '${join(import.meta.dirname, '../../src/agents/index.ts')}';\n`,
      'counter.mjs': COUNTER,
    });
    const { outcome, events } = await folder.run('counter.mjs');
    assert.equal(outcome.type, 'done');
    const library = events.find((event) => event.type === 'library');
    assert.equal(library?.path, join(folder.path, 'node_modules/farwharf/agents.mjs'));
  });

  it('a Node that cannot be started is an error, and one that is too old a refusal', async () => {
    await using folder = await FlowFolder.create({ 'counter.mjs': COUNTER });
    const request = { file: join(folder.path, 'counter.mjs'), cwd: folder.path, env: process.env };
    const listen = { signal: new AbortController().signal, onEvent: () => {} };
    const missing = { ...RUNTIME, node: join(folder.path, 'no-node') };
    await assert.rejects(runFlow(missing, request, listen), /could not be started/);
    const version = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '18.0.0' })";
    const old = await folder.write('old', `#!/bin/sh\nexec "${process.execPath}" --import "${version}" "$@"\n`);
    const ancient = await folder.write('ancient', '#!/bin/sh\nexit 9\n');
    for (const node of [old, ancient]) {
      await chmod(node, 0o755);
      assert.match(messageOf(await runFlow({ ...RUNTIME, node }, request, listen)), /Flows need Node 22\.18 or newer/);
    }
  });
});
