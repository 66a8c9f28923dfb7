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
  library: ['core', 'remote', 'workspace'],
  agents: ['core', 'remote', 'retrieval', 'workspace'],
  machines: ['core', 'remote', 'workspace'],
  jobs: ['core', 'remote', 'workspace', 'machines'],
  flows: ['core', 'workspace', 'agents'],
  service: ['core', 'remote', 'workspace'],
  cli: ['core', 'remote', 'retrieval', 'workspace', 'agents', 'machines', 'jobs', 'flows', 'service'],
  extension: ['core', 'remote', 'retrieval', 'workspace', 'agents', 'machines', 'jobs', 'flows', 'service', 'webview'],
  webview: ['core', 'agents', 'flows'],
};
/**
 * The folders of each layer: each may import those before it in the list, besides itself. `.` is the layer's own folder.
 */
const FOLDERS: Record<string, string> = {
  core: '. text files processes rpc network',
  remote: 'protocol http tunnel events transfers .',
  workspace: 'files scripts environments secrets git archive select pack extract notebooks results',
  retrieval: `
    chunks kernel/assembly kernel tokenizer segments search index semantic server .`,
  library: '.',
  agents: 'schema tools records run graph llm chat rag .',
  machines: 'ssh install .',
  jobs: 'service signIn ledger archives source selection batch contents log notebooks metrics plan send profiles sweeps submit results report failure debug agentTools',
  flows: `
    graph syntax interpreter reading editing language layout project migration
    run/protocol run/loading run/start run/history run/testing run/evals run/child`,
  service: `
    store/database store/jobs store/accounts store cgroups config jobFiles folders executor contents placement runner/usage runner/environment
    runner/debug runner/program runner/output runner/tunnel runner process slurm/batch slurm slurm/proposal health disk jobs streams http/access signIn
    http/submit http/page http admin . machine`,
  cli: 'terminal command account jobs flows sweeps submit search admin mcp machines .',
  extension: `
    threads contributions ui workspace account agents jobs/store jobs/list notebooks jobs/log jobs failures results inside submit/preflight sweeps
    submit debug search/index search flows/documents flows/runs flows/canvas flows/language flows .`,
  webview: 'canvas/dom canvas/state canvas/scene canvas/actions canvas/panels canvas jobPage sweepPage',
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
const folderOf = (file: string): string => dirname(file).split(sep).slice(1).join('/') || '.';
const edges = readEdges();
const ownEdges = edges.filter(({ specifier }) => specifier.startsWith('.'));

test('every source file lies in a known layer', () => {
  const unknown = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !(layerOf(file) in LAYERS));
  assert.deepEqual(unknown, []);
});

test('a layer imports only the layers below it', () => {
  const violations = ownEdges.filter(({ from, to }) => {
    const [importer, imported] = [layerOf(from), layerOf(to)];
    return importer !== imported && !LAYERS[importer]?.includes(imported);
  });
  assert.deepEqual(violations, []);
});

test('a folder imports only folders of its layer that are listed before it, so that they form no cycle', () => {
  const violations = ownEdges.filter(({ from, to }) => {
    if (layerOf(from) !== layerOf(to)) return false;
    const folders = (FOLDERS[layerOf(from)] ?? '').trim().split(/\s+/u);
    const [importer, imported] = [folders.indexOf(folderOf(from)), folders.indexOf(folderOf(to))];
    return importer === -1 || imported === -1 || imported > importer;
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

test('a name is declared and exported by one file of src only', () => {
  const EXPORTS =
    /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|interface|type) (\w+)/gm;
  const exported = globSync('**/*.ts', { cwd: SOURCE }).flatMap((file) => {
    const names = Array.from(readFileSync(join(SOURCE, file), 'utf8').matchAll(EXPORTS), ([, name = '']) => name);
    // The overloads of a function have its name once each.
    return [...new Set(names)].map((name) => ({ name, file }));
  });
  assert.ok(exported.length > 1_000);
  const repeated = [...Map.groupBy(exported, ({ name }) => name)].filter(([, places]) => places.length > 1);
  assert.deepEqual(
    repeated.map(([name, places]) => `${name}: ${places.map(({ file }) => file).join(', ')}`),
    [],
  );
});

test('zod is imported as a namespace, which costs a fifth of the named import', () => {
  const violations = globSync('**/*.ts', { cwd: SOURCE }).filter((file) =>
    /import\s+(?:type\s+)?\{[^}]*\}\s+from\s+'zod'/.test(readFileSync(join(SOURCE, file), 'utf8')),
  );
  assert.deepEqual(violations, []);
});

test('the table of layers in CONTRIBUTING.md is the one above', () => {
  const page = readFileSync(join(import.meta.dirname, '../../CONTRIBUTING.md'), 'utf8');
  const [, section = ''] = page.split(/^## Layers$/m);
  const rows = [...section.matchAll(/^\| `(\w+)` +\|([^|]*)\|$/gm)];
  const names = (cell = ''): string[] => Array.from(cell.matchAll(/`(\w+)`/g), ([, name = '']) => name);
  assert.deepEqual(Object.fromEntries(rows.map(([, layer, cell]) => [layer, names(cell)])), LAYERS);
});

test('a lint rule is disabled for one line at a time, with the reason', () => {
  const files = globSync('{src,test,scripts,bench,examples,media}/**/*.{ts,mts,mjs}', {
    cwd: join(SOURCE, '..'),
    exclude: (path) => path.endsWith('node_modules'),
  });
  const disabled = files.flatMap((file) =>
    Array.from(
      readFileSync(join(SOURCE, '..', file), 'utf8').matchAll(/\/[/*] *(?:ox|es)lint-disable.*/g),
      ([comment]) => comment,
    ),
  );
  assert.ok(disabled.length > 0);
  const isAllowed = (comment: string): boolean => /^\/\/ oxlint-disable-next-line [\w/-]+ -- \S/.test(comment);
  assert.deepEqual(
    disabled.filter((comment) => !isAllowed(comment)),
    [],
  );
});
