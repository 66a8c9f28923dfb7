import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import * as agents from '../../src/agents/index.ts';
import * as remote from '../../src/library/remote.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = ['docs/library.md', 'docs/agents.md', 'docs/migration.md', 'agentPlugin/skills/farwharf-flows/SKILL.md'];
const OTHER_LIBRARIES = /'pocketflow'|new StateGraph\(/; // what is converted from

/** What samples use of the samples before them, or leave to the reader. */
const SURROUNDINGS: Readonly<Record<string, string>> = {
  Shared: `interface Shared {
    question: string; answer: string; query: string; report: string; harbours: string[]; depths: number[];
  }`,
  State: 'interface State { topic: string; text: string }',
  Ask: `class Ask extends Node<{ log: string[] }> { override post(): 'again' | undefined { return undefined; } }`,
  Answer: 'class Answer extends Node<{ log: string[] }> {}',
  Publish: 'class Publish extends Node {}',
  Check: 'class Check extends Node {}',
  Weather: 'class Weather extends Node {}',
  key: 'declare const key: string;',
  question: 'declare const question: string;',
  shared: 'declare const shared: Shared;',
  answer: `declare const answer: Node<Shared, string, string, 'too long' | 'done'>;`,
  flow: 'declare const flow: Flow<Shared>;',
  look: 'declare const look: Node<Shared & { item: string }>;',
  measure: 'declare const measure: Node<Shared & { item: string }>;',
  newsFlow: 'declare const newsFlow: Flow;',
  checkpoint: 'declare const checkpoint: Checkpoint;',
  model: 'declare const model: LLMClient;',
  messages: 'declare const messages: ChatMessage[];',
  depth: 'declare const depth: Tool;',
  send: 'declare const send: Tool;',
  lookUp: 'declare function lookUp(harbour: string): number;',
  credential: 'declare const credential: { getToken(scope: string): Promise<{ token: string }> };',
  scope: 'declare const scope: string;',
};

const IMPORTS: readonly (readonly [string, readonly string[]])[] = [
  ['farwharf/agents', [...Object.keys(agents), 'type ChatMessage', 'type Checkpoint', 'type Tool']],
  // Both have `AppError`.
  ['farwharf/remote', Object.keys(remote).filter((name) => !(name in agents))],
];

const samples = PAGES.flatMap((page) =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)]
    .map(([, text = ''], index) => ({ page, name: `${page.replaceAll(/\W/g, '-')}-${index + 1}.mts`, text }))
    .filter(({ text }) => !OTHER_LIBRARIES.test(text)),
);

/** A sample with all that it needs, as a module. */
function moduleOf(text: string): string {
  const lacks = (name: string): boolean =>
    !new RegExp(`\\b(?:const|class|interface|function) ${name}\\b|\\b(?:const|import) [\\[{][^=;]*\\b${name}\\b`).test(
      text,
    );
  const surroundings = Object.entries(SURROUNDINGS)
    .filter(([name]) => lacks(name))
    .map(([, declaration]) => declaration);
  const imports = IMPORTS.map(([library, names]) => {
    const missing = names.filter((name) => lacks(name.replace('type ', '')));
    return `import { ${missing.join(', ')} } from '${library}';`;
  });
  if (lacks('z')) imports.push(`import * as z from 'zod';`);
  // The comment of a line that the compiler refuses says so.
  const checked = text.replaceAll(/^(?=.*; \/\/ error: )/gm, '// @ts-expect-error\n');
  return [...imports, ...surroundings, checked].join('\n');
}

test('the TypeScript on the pages compiles against the library', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-samples-'));
  t.after(() => rmSync(folder, { recursive: true }));
  assert.ok(samples.length > 20);
  for (const { name, text } of samples) writeFileSync(join(folder, name), moduleOf(text));
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2024', 'esnext.array', 'esnext.disposable', 'esnext.collection', 'esnext.iterator'],
    strict: true,
    noImplicitOverride: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: {
      'farwharf/agents': [join(ROOT, 'src/agents/index.ts')],
      'farwharf/remote': [join(ROOT, 'src/library/remote.ts')],
      zod: [join(ROOT, 'node_modules/zod/index.d.ts')],
    },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  assert.equal(stdout, '');
});

// Node.js 22, which the library supports, refuses the syntax.
test('a page whose samples use `await using` says what Node.js 22 needs instead', () => {
  for (const page of new Set(samples.filter(({ text }) => text.includes('await using')).map((sample) => sample.page))) {
    assert.match(readFileSync(join(ROOT, page), 'utf8'), /`await using` needs Node 24/, page);
  }
});
