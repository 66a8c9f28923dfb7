import assert from 'node:assert/strict';
import { stripTypeScriptTypes } from 'node:module';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { withoutTypeImports } from '../../../../../src/flows/run/loading/typeImports.ts';

// What esbuild, which tsx uses, imports for the same text says what has to be left.
const PROGRAMS: Readonly<Record<string, string>> = {
  'an interface alone': `import { Shared } from './a'; const state: Shared = {};`,
  'an interface beside a class': `import { Shared, Node } from './a'; class Ask extends Node<Shared> {}`,
  'several lines, renamed': `import {\n  Shared as State, // the state\n  Node,\n} from './a';\nnew Node<State>();`,
  'a default beside a name': `import Client, { ask } from './a'; ask(); let client: Client;`,
  'a default beside all': `import Client, * as all from './a'; new Client(); let shape: all.Shape;`,
  'all beside a default': `import Client, * as all from './a'; all.ask(); let client: Client;`,
  'names that say that they are types': `import { type Shared } from './a'; import type { Other } from './b'; let x: Shared & Other;`,
  'a name that a key or a member has too': `import { Shared } from './a'; const x = { Shared: 1 }; x.Shared; class Y { Shared = 2; Shared2() {} }`,
  'a shorthand': `import { value } from './a'; console.log({ value });`,
  'typeof in a type': `import { model } from './a'; let x: typeof model;`,
  'typeof in an expression': `import { model } from './a'; console.log(typeof model);`,
  'behind as, satisfies, ! and <T>': `import { a, b, c, d, T } from './a'; f(a as T, b satisfies T, c!, <T>d);`,
  'implements and a generic call': `import { Shape, T, make } from './a'; class A implements Shape {} make<T>();`,
  'in an enum and a namespace': `import { one, two } from './a'; enum E { x = one } namespace N { export const y = two; }`,
  'a parameter property': `import { Shared, start } from './a'; class A { constructor(private x: Shared = start) {} }`,
  'a decorator': `import { tool, Shared } from './a'; @tool class A { x?: Shared }`,
  exported: `import { value } from './a'; export { value };`,
  'only for its effect': `import './a';`,
  'not used at all': `import { value } from './a';`,
  'a declared function': `import { Shared } from './a'; declare function f(x: Shared): void; abstract class A { abstract g(x: Shared): void }`,
  'without semicolons': `import A from './a'\nimport { B } from './b'\n;(globalThis as A)`,
};

/** What a program imports: each module with its names. */
function importsOf(javascript: string): readonly string[] {
  return [...javascript.matchAll(/^\s*;*\s*import\s*(?:([^'"]*?)\s*from)?\s*['"]([^'"]+)['"]/gm)].map(
    ([, names = '', module]) => `${names.replaceAll(/\s|\/\/.*|,\s*(?=\})/g, '')} ${module}`,
  );
}

for (const [what, text] of Object.entries(PROGRAMS)) {
  test(`as other runners import it: ${what}`, () => {
    const result = withoutTypeImports(text);
    assert.equal(result.split('\n').length, text.split('\n').length);
    const expected = transformSync(text, { loader: 'ts', tsconfigRaw: { compilerOptions: {} } }).code;
    const javascript = stripTypeScriptTypes(result, { mode: 'transform' });
    assert.deepEqual(importsOf(javascript), importsOf(expected));
  });
}

test('text that does not parse is left to Node.js', () => {
  assert.equal(withoutTypeImports('import { A } from'), 'import { A } from');
});
