import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, sep } from 'node:path';
import { test } from 'node:test';

/** Which layers each layer may import, besides itself. */
const LAYERS: Record<string, readonly string[]> = {
  core: [],
  remote: ['core'],
  retrieval: ['core'],
  workspace: ['core'],
  agents: ['core', 'remote', 'retrieval', 'workspace'],
  jobs: ['core', 'remote', 'workspace'],
  flows: ['core', 'workspace', 'agents'],
  service: ['core', 'remote', 'workspace'],
  cli: ['core', 'remote', 'retrieval', 'workspace', 'agents', 'jobs', 'flows', 'service'],
  extension: ['core', 'remote', 'retrieval', 'workspace', 'agents', 'jobs', 'flows', 'service', 'webview'],
  webview: ['core', 'agents', 'flows'],
};
const SOURCE = join(import.meta.dirname, '../../src');
const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"]([^'"]+)['"]/g;

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly specifier: string;
}

function readEdges(): Edge[] {
  return globSync('**/*.ts', { cwd: SOURCE }).flatMap((file) => {
    const text = readFileSync(join(SOURCE, file), 'utf8');
    return [...text.matchAll(IMPORTS)].map(([, specifier = '']) => {
      const to = specifier.startsWith('.')
        ? relative(SOURCE, normalize(join(SOURCE, dirname(file), specifier)))
        : specifier;
      return { from: file, to, specifier };
    });
  });
}

const layerOf = (file: string): string => file.split(sep)[0] ?? '';
const edges = readEdges();
const ownEdges = edges.filter(({ specifier }) => specifier.startsWith('.'));

test('every source file lies in a known layer', () => {
  const strangers = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !(layerOf(file) in LAYERS));
  assert.deepEqual(strangers, []);
});

test('a layer imports only the layers below it', () => {
  const violations = ownEdges.filter(({ from, to }) => {
    const [importer, imported] = [layerOf(from), layerOf(to)];
    return importer !== imported && !LAYERS[importer]?.includes(imported);
  });
  assert.deepEqual(violations, []);
});

test('nothing outside src/extension knows vscode, not even its types', () => {
  const violations = edges.filter(({ from, to }) => to === 'vscode' && layerOf(from) !== 'extension');
  assert.deepEqual(violations, []);
});

test('imports form no cycle', () => {
  const graph = Map.groupBy(ownEdges, ({ from }) => from);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    const start = path.indexOf(file);
    assert.equal(start, -1, `cycle: ${[...path.slice(start), file].join(' -> ')}`);
    if (done.has(file)) return;
    for (const { to } of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
});

test('zod is imported as a namespace, which costs a fifth of the named import', () => {
  const violations = globSync('**/*.ts', { cwd: SOURCE }).filter((file) =>
    /import\s+(?:type\s+)?\{[^}]*\}\s+from\s+'zod'/.test(readFileSync(join(SOURCE, file), 'utf8')),
  );
  assert.deepEqual(violations, []);
});
