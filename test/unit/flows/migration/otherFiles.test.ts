import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Migration, migratePocketFlow } from '../../../../src/flows/migration/pocketFlow.ts';
import { SourceFile } from '../../../../src/flows/syntax/sourceFile.ts';

const lines = (...text: string[]): string => text.map((line) => `${line}\n`).join('');

/** The migration of `agent.ts` in a folder with these other files. */
function migrated(text: string, files: Readonly<Record<string, string>>): Migration {
  return migratePocketFlow('agent.ts', text, (candidates) => {
    const path = candidates.find((candidate) => files[candidate] !== undefined);
    return path === undefined ? undefined : new SourceFile(path, files[path] ?? '');
  });
}

const NODES = lines(
  "import { Node, Flow } from 'pocketflow';",
  'export class Ask extends Node {}',
  'class Reply extends Ask {}',
  'export class Own extends Node { constructor(name: string) { super(2); } }',
  'export class Nested extends Flow {}',
  'export default class extends Node {}',
  'export { Reply as Answer };',
);

test('nodes and flows whose classes are in other files get their options', () => {
  const { text, unconverted } = migrated(
    lines(
      "import { Flow } from 'pocketflow';",
      "import Plain, { Ask, Answer as Last, Own, Nested } from './nodes.js';",
      "import * as nodes from './nodes';",
      "import { Far } from './index.ts';",
      "const ask = new Ask(3, 1), last = new Last(2), plain = new Plain(4), own = new Own('a'), far = new Far(5);",
      'const nested = new Nested(new nodes.Ask(6));',
      'ask.next(last).next(plain).next(own).next(far).next(nested);',
      'export const flow = new Flow(ask);',
    ),
    {
      'nodes.ts': NODES,
      'index.ts': "export * from './far.ts';",
      'far.ts': "export { Ask as Far } from './nodes.ts';",
    },
  );
  for (const construction of [
    'new Ask({ maxRetries: 3, wait: 1 })',
    'new Last({ maxRetries: 2 })',
    'new Plain({ maxRetries: 4 })',
    "new Own('a')",
    'new Far({ maxRetries: 5 })',
    'new Nested({ start: new nodes.Ask({ maxRetries: 6 }) })',
    'new Flow({ start: ask })',
  ]) {
    assert.ok(text.includes(construction), text);
  }
  assert.deepEqual(unconverted, []);
});

test('a node of another file that nothing follows ends the flow with the actions that it returns', () => {
  const { text } = migrated(
    lines(
      "import { Flow } from 'pocketflow';",
      "import { Judge } from './nodes';",
      'const judge = new Judge(2);',
      'const flow = new Flow(judge);',
    ),
    {
      'nodes.ts': lines(
        'import { Node } from "pocketflow";',
        'export class Judge extends Node { async post(_s, _p, isGood) { return isGood ? "good" : "bad"; } }',
      ),
    },
  );
  assert.match(text, /start: judge \}\)\.connect\(judge, null, 'good'\)\.connect\(judge, null, 'bad'\);\n/);
});

test('a file that only constructs nodes of other files is converted, and not again', () => {
  const text = lines("const { Ask } = require('./nodes');", 'module.exports = new Ask(3);');
  const files = {
    'nodes.cjs': lines(
      "const { Node } = require('pocketflow');",
      'class Ask extends Node {}',
      'class Answer extends Node {}',
      'module.exports = { Ask, Answer };',
    ),
  };
  const once = migrated(text, files);
  assert.equal(once.text, lines("const { Ask } = require('./nodes');", 'module.exports = new Ask({ maxRetries: 3 });'));
  const after = { 'nodes.cjs': files['nodes.cjs'].replace('pocketflow', 'farwharf/agents') };
  assert.equal(migrated(text, after).text, once.text, 'also if the other file is converted already');
  assert.equal(migrated(once.text, after).text, once.text);
});

test('files that import each other, or are not there, do not keep a file from being converted', () => {
  const text = lines(
    "import { Flow } from 'pocketflow';",
    "import { A, B } from './a.ts';",
    'new Flow(new A(1));',
    'new B(2);',
  );
  const files = {
    'a.ts': "export * from './b.ts'; export { A } from './b.ts';",
    'b.ts': "export * from './a.ts'; export { A } from './a.ts';",
  };
  assert.match(migrated(text, files).text, /new Flow\(\{ start: new A\(1\) \}\);\nnew B\(2\);/);
  assert.match(migrated(text, {}).text, /new A\(1\)/);
});
