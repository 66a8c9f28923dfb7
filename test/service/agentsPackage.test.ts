import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

const FLOW = `
import { Flow, LLMClient, Node, RAGNode, type TraceEvent } from 'farwharf/agents';
import * as z from 'zod';

interface Shared { count: number }

class Count extends Node<Shared, number, number> {
  override prep(shared: Shared): number {
    return shared.count;
  }
  override exec(count: number): number {
    return count + 1;
  }
  override post(shared: Shared, _before: number, count: number) {
    shared.count = count;
    return count < 3 ? 'again' : 'done';
  }
}

const count = new Count({ maxRetries: 2, wait: 0.1 });
const flow = new Flow<Shared>({ start: count }).connect(count, count, 'again').connect(count, null, 'done');
const shared = { count: 0 };
const events: TraceEvent[] = [];
const action = await flow.run(shared, { onEvent: (event) => events.push(event) });
console.log(String(action), shared.count, events.length > 0);

export async function ask(): Promise<number> {
  const { people } = await new LLMClient().ask('Oslo?', { schema: z.object({ people: z.number() }) });
  return people;
}
export const rag = new RAGNode<{ query: string }>({ topK: 3 });
`;

const MISTAKES = `
import { Flow, Node } from 'farwharf/agents';
class Route extends Node<{ x: number }> {
  override post(shared: { x: number }) { return shared.x > 0 ? 'up' : 'down'; }
}
const route = new Route();
// @ts-expect-error an action that it cannot return
new Flow<{ x: number }>().connect(route, null, 'upp');
// @ts-expect-error shared state without what the node needs
new Flow<{ y: number }>().connect(route, null, 'up');
`;

const PLAIN = `
import { Flow, Node } from 'farwharf/agents';
class Hello extends Node { post() { console.log('hello from plain JavaScript'); return 'end'; } }
const hello = new Hello();
await new Flow({ start: hello }).connect(hello, null, 'end').run({});
`;

const project = mkdtempSync(join(tmpdir(), 'farwharf-package-'));

before(() => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], {
      cwd: ROOT,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    }),
  ) as { filename: string }[];
  assert.ok(packed);
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, 'farwharf'), { recursive: true });
  mkdirSync(join(modules, '@types'));
  execFileSync('tar', [
    '-xzf',
    join(project, packed.filename),
    '-C',
    join(modules, 'farwharf'),
    '--strip-components=1',
  ]);
  // The package's one dependency, and what a strict TypeScript project has.
  symlinkSync(join(ROOT, 'node_modules/zod'), join(modules, 'zod'), 'junction');
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(modules, '@types/node'), 'junction');
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'flow.ts'), FLOW);
  writeFileSync(join(project, 'mistakes.ts'), MISTAKES);
  writeFileSync(join(project, 'plain.js'), PLAIN);
});

after(() => rmSync(project, { recursive: true, force: true }));

for (const [module, moduleResolution] of [
  ['node16', 'node16'],
  ['esnext', 'bundler'],
] as const) {
  test(`the packed library compiles in an empty strict project with ${moduleResolution} resolution`, () => {
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2023',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      skipLibCheck: false,
      types: ['node'],
      lib: ['es2023', 'esnext.disposable', 'dom'],
    };
    const config = join(project, `tsconfig.${moduleResolution}.json`);
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ['flow.ts', 'mistakes.ts'] }));
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', config], { encoding: 'utf8' });
    assert.equal(stdout, '');
    assert.equal(status, 0);
  });
}

test('a TypeScript flow file runs directly under Node', () => {
  const output = execFileSync(process.execPath, ['flow.ts'], { cwd: project, encoding: 'utf8' });
  assert.equal(output, 'done 3 true\n');
});

test('the packed library works from plain JavaScript', () => {
  const output = execFileSync(process.execPath, ['plain.js'], { cwd: project, encoding: 'utf8' });
  assert.equal(output, 'hello from plain JavaScript\n');
});
