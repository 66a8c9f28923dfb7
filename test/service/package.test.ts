import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import * as esbuild from 'esbuild';
import { filesBelow, npm, pack, packDependency, projectWith, unbuiltClone } from './support/packedPackage.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const MAX_PACKED_BYTES = 1_560_000;
const ALLOWED = [
  /^(package\.json|README\.md|CHANGELOG\.md|LICENSE)$/,
  /^dist\/[\w-]+\.(mjs|cjs|d\.mts|d\.ts)$/,
  /^dist\/(thirdPartyLicenses\.txt|machineService\.json)$/,
  /^dist\/(browser|chunks)\/[\w-]+\.mjs$/,
  /^dist\/(types|flowTypes)\/[\w/]+\.d\.ts$/,
  /^agentPlugin\/(plugin\.json|mcp\.json|skills\/[\w-]+\/SKILL\.md)$/,
  /^docs\/(service\/)?[\w.]+\.(md|service|conf)$/,
  /^monitoring\/\w+\.(yml|json)$/,
  /^server\/(farwharf-server|parts\.sh|service\.toml)$/,
  /^examples\/agents\/([\w/]+)\.(md|mts|json)$/,
  /^examples\/quickstart\/(\.gitignore|[\w/]+\.(md|mjs|txt))$/,
];
const REQUIRED = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/cli.mjs',
  'dist/jobRunner.mjs',
  'dist/sandboxTunnel.mjs',
  'dist/nodeDebugger.cjs',
  'dist/machineService.json',
  'dist/machineService.mjs',
  'dist/indexWorker.mjs',
  'dist/modelWorker.mjs',
  'dist/flowRunner.mjs',
  'dist/remote.mjs',
  'dist/agents.mjs',
  'dist/zod.mjs',
  'dist/remote.d.ts',
  'dist/agents.d.ts',
  'dist/types/agents/index.d.ts',
  'dist/thirdPartyLicenses.txt',
  'agentPlugin/plugin.json',
  'agentPlugin/skills/farwharf-jobs/SKILL.md',
  'docs/agents.md',
  'docs/farwharf.service',
  'monitoring/alerts.yml',
  'monitoring/dashboard.json',
  'server/farwharf-server',
  'server/parts.sh',
  'server/service.toml',
  'examples/agents/research.mts',
  'examples/quickstart/train.mjs',
];

/** What is built into our files, and under which licence. */
const SHIPPED_PACKAGES = {
  '@babel/parser': 'MIT',
  '@fastify/busboy': 'MIT',
  '@hono/node-server': 'MIT',
  '@modelcontextprotocol/sdk': 'MIT',
  '@opentelemetry/api': 'Apache-2.0',
  '@orama/stemmers': 'Apache-2.0',
  bintrees: 'MIT',
  commander: 'MIT',
  'content-type': 'MIT',
  'cross-spawn': 'MIT',
  'data-uri-to-buffer': 'MIT',
  diff: 'BSD-3-Clause',
  'eventsource-parser': 'MIT',
  'fetch-blob': 'MIT',
  'formdata-polyfill': 'MIT',
  hono: 'MIT',
  ignore: 'MIT',
  isexe: 'ISC',
  jose: 'MIT',
  'node-domexception': 'MIT',
  'node-fetch': 'MIT',
  oauth4webapi: 'MIT',
  openai: 'Apache-2.0',
  'p-limit': 'MIT',
  'path-key': 'MIT',
  'pkce-challenge': 'MIT',
  'prom-client': 'Apache-2.0',
  'shebang-command': 'MIT',
  'shebang-regex': 'MIT',
  'smol-toml': 'BSD-3-Clause',
  tdigest: 'MIT',
  which: 'ISC',
  ws: 'MIT',
  'yocto-queue': 'MIT',
  zod: 'MIT',
  'zod-to-json-schema': 'ISC',
};

const FLOW = `
import { Flow, LLMClient, Node, RAGNode, type TraceEvent } from 'farwharf/agents';
import { AppError, packWorkspace, type Job, RemoteClient } from 'farwharf/remote';
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
export function stateOf(client: RemoteClient, id: string): Promise<Job['state']> {
  return client.getJob(id).then((job) => job.state);
}
export const rag = new RAGNode<{ query: string }>({ topK: 3 });
export async function textsOf(client: RemoteClient, id: string): Promise<string[]> {
  const texts: string[] = [];
  for await (const event of client.followEvents(id, { maxOutage: 60 })) {
    const name: string = event.event;
    texts.push(event.event === 'log' ? event.data.text : name);
  }
  return texts;
}
export const codeOf = (error: unknown): string => (error instanceof AppError ? error.code : 'other');
export const pack = (): Promise<number> =>
  packWorkspace('.', 'workspace.tar.gz', { include: ['*.csv'] }).then(({ bytes }) => bytes);
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
// @ts-expect-error the module has named exports only
import client from 'farwharf/remote';
export { client };
`;

// CommonJS that TypeScript compiles to \`require\`: Node.js can load an ES module so.
const COMMON = `
import { RemoteClient } from 'farwharf/remote';
import { Flow } from 'farwharf/agents';
export const client: RemoteClient = new RemoteClient('http://127.0.0.1:9', 'key');
export const flow = new Flow<object>();
`;

const PLAIN = `
import { Flow, Node } from 'farwharf/agents';
class Hello extends Node { post() { console.log('hello from plain JavaScript'); return 'end'; } }
const hello = new Hello();
await new Flow({ start: hello }).connect(hello, null, 'end').run({});
`;

/** Uses both libraries, in any module format: requests that a server refuses, and a flow that runs. */
const USE = `
import { createServer } from 'node:http';
import { AuthError, RemoteClient } from 'farwharf/remote';
import { Flow, Node } from 'farwharf/agents';
class Hello extends Node { post() { return 'end'; } }
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(401).end());
});
server.listen(0, '127.0.0.1', async () => {
  const client = new RemoteClient('http://127.0.0.1:' + server.address().port, 'key');
  const calls = [client.me(), client.submitJob('package.json', { script: 'a.sh', maxRuntime: 60 })];
  const refusals = await Promise.all(calls.map((call) => call.catch((error) => error instanceof AuthError)));
  await client.close();
  server.close();
  const hello = new Hello();
  const action = await new Flow({ start: hello }).connect(hello, null, 'end').run({});
  console.log(refusals.join(' '), String(action));
});
`;
const USED = 'true true end\n';

const LOCAL_VECTORS = `
import { Flow, RAGNode } from 'farwharf/agents';
const start = new RAGNode({ sources: 'package.json', vectorIndex: true, maxRetries: 1 });
new Flow({ start }).connect(start, null, 'default').run({ query: 'a question' }).catch((error) => {
  console.log(error.code, error.message);
});
`;

const folder = mkdtempSync(join(tmpdir(), 'farwharf-package-'));
let tarball = '';
let project = '';
const installed = (): string => join(project, 'node_modules/farwharf');

// The build of a clone of its own: other tests use the one of this project meanwhile.
before(() => {
  const clone = unbuiltClone(folder);
  writeFileSync(join(clone, 'examples/quickstart/loss.png'), 'a result of a job');
  tarball = pack(clone, join(folder, 'packed'));
  project = projectWith(tarball, folder);
  for (const [name, text] of Object.entries({
    'flow.ts': FLOW,
    'mistakes.ts': MISTAKES,
    'common.cts': COMMON,
    'plain.js': PLAIN,
    'use.js': USE,
    'localVectors.js': LOCAL_VECTORS,
  }))
    writeFileSync(join(project, name), text);
});

after(() => rmSync(folder, { recursive: true, force: true }));

function run(file: string, ...args: string[]) {
  return spawnSync(process.execPath, [file, ...args], { cwd: project, encoding: 'utf8' });
}

test('an unbuilt clone packs what the command and the libraries need, and nothing of the extension', () => {
  const files = filesBelow(installed());
  assert.deepEqual(
    REQUIRED.filter((name) => !files.includes(name)),
    [],
  );
  assert.deepEqual(
    files.filter((name) => !ALLOWED.some((pattern) => pattern.test(name))),
    [],
  );
  const { size } = statSync(tarball);
  assert.ok(size < MAX_PACKED_BYTES, `the package weighs ${size} bytes`);
});

test('packages of others come with their licences, which are known ones, and none runs a script when it is installed', () => {
  const licenses = readFileSync(join(installed(), 'dist/thirdPartyLicenses.txt'), 'utf8');
  const shipped = [...licenses.matchAll(/^(\S+) [\d.]+ \(([\w.-]+)\)$/gm)].map(([, name = '', license = '']) => [
    name,
    license,
  ]);
  assert.deepEqual(Object.fromEntries(shipped), SHIPPED_PACKAGES);
  for (const words of ['Permission is hereby granted', 'Apache License', 'Redistribution and use in source']) {
    assert.ok(licenses.includes(words), words);
  }
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly hasInstallScript?: boolean; readonly integrity?: string }>>;
  };
  for (const name of Object.keys(SHIPPED_PACKAGES)) {
    const locked = packages[`node_modules/${name}`];
    assert.match(locked?.integrity ?? '', /^sha512-/, name);
    assert.equal(locked?.hasInstallScript, undefined, name);
  }
});

/** The hash in a chunk's name depends on where the packages lie that are bundled. */
function withoutHashes(folder: string): string[] {
  return filesBelow(folder)
    .map((name) => name.replace(/(?<=\/chunks\/)[A-Z0-9]{8}(?=\.mjs$)/, ''))
    .toSorted();
}

test('npm builds the package that it installs from the folder of an unbuilt clone', () => {
  const own = join(folder, 'fromFolder');
  mkdirSync(own);
  const clone = unbuiltClone(own);
  writeFileSync(join(own, 'package.json'), '{ "private": true }');
  const packages = [clone, packDependency('zod', own)];
  npm(['install', '--offline', '--no-audit', '--install-links', ...packages], own);
  assert.deepEqual(withoutHashes(join(own, 'node_modules/farwharf')), withoutHashes(installed()));
});

test('every file that the package names for npm is in it', () => {
  const { bin, exports } = JSON.parse(readFileSync(join(installed(), 'package.json'), 'utf8')) as {
    bin: unknown;
    exports: unknown;
  };
  const named: string[] = [];
  JSON.stringify([bin, exports], (_key, value: unknown) => {
    if (typeof value === 'string') named.push(value.replace(/^\.\//, ''));
    return value;
  });
  const files = filesBelow(installed());
  assert.ok(named.length > 5);
  assert.deepEqual(
    named.filter((name) => !files.includes(name)),
    [],
  );
});

test('the installed command runs: its version, a search, and a flow of the examples', () => {
  const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
  const env = { ...process.env, FARWHARF_HOME: join(folder, 'home') };
  const farwharf = (...args: string[]): string =>
    execFileSync(process.execPath, [join(installed(), 'dist/cli.mjs'), ...args], {
      cwd: project,
      encoding: 'utf8',
      env,
    });
  assert.equal(npm(['exec', '--offline', '--', 'farwharf', '--version'], project).trim(), version);
  // Node.js strips no types below node_modules, so people copy the examples out of it.
  const examples = join(project, 'examples');
  cpSync(join(installed(), 'examples'), examples, { recursive: true });
  assert.match(farwharf('search', 'tides', '--folder', join(examples, 'quickstart')), /texts\/tides\.txt/);
  assert.match(farwharf('flow', 'run', join(examples, 'agents/research.mts')), /\S/);
});

for (const [module, moduleResolution] of [
  ['node16', 'node16'],
  ['nodenext', 'nodenext'],
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
    writeFileSync(config, JSON.stringify({ compilerOptions, files: ['flow.ts', 'mistakes.ts', 'common.cts'] }));
    const { status, stdout } = run(TSC, '-p', config);
    assert.equal(stdout, '');
    assert.equal(status, 0);
  });
}

test('a TypeScript flow file runs directly under Node', () => {
  assert.equal(run('flow.ts').stdout, 'done 3 true\n');
});

test('an uncaught error of a library is not lost in the code that Node.js prints with it', () => {
  const program = "import { LLMClient } from 'farwharf/agents'; await new LLMClient().ask('?');";
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: project,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  assert.equal(status, 1);
  assert.match(stderr, /needs an API key\. Set OPENAI_API_KEY/);
  assert.ok(stderr.length < 4_000, `${stderr.length} characters`);
});

test('the packed library works from plain JavaScript', () => {
  assert.equal(run('plain.js').stdout, 'hello from plain JavaScript\n');
});

test('importing the agents loads neither files, streams, the network nor other programs before they are used', () => {
  const script = `await import(${JSON.stringify(join(ROOT, 'dist/agents.mjs'))}); console.log(process.moduleLoadList.join('\\n'));`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).split(
    '\n',
  );
  const costly = ['fs/promises', 'stream', 'net', 'crypto', 'child_process', 'vm', 'worker_threads'];
  assert.deepEqual(
    costly.filter((name) => loaded.includes(`NativeModule ${name}`)),
    [],
  );
});

test('the packed libraries can be required by CommonJS', () => {
  writeFileSync(join(project, 'use.cjs'), USE.replaceAll(/import (.*) from ('.*');/g, 'const $1 = require($2);'));
  const { stdout, stderr } = run('use.cjs');
  assert.equal(stdout, USED, stderr);
});

/** Bundles a file of the project; returns the bundle's path. */
async function bundle(name: string, format: 'cjs' | 'esm', platform: 'node' | 'browser'): Promise<string> {
  const outfile = join(project, 'bundles', `${name}-${platform}.${format === 'cjs' ? 'cjs' : 'mjs'}`);
  const entryPoints = [join(project, `${name}.js`)];
  const options = { entryPoints, bundle: true, platform, format, outfile, logLevel: 'silent' } as const;
  const { warnings } = await esbuild.build(options);
  assert.deepEqual(warnings, []);
  return outfile;
}

for (const format of ['cjs', 'esm'] as const) {
  test(`the libraries run in a bundle that esbuild makes as ${format}`, async () => {
    const { stdout, stderr } = run(await bundle('use', format, 'node'));
    assert.equal(stdout, USED, stderr);
  });

  test(`in a bundle that esbuild makes as ${format}, local embeddings say what they need`, async () => {
    const { stdout, stderr } = run(await bundle('localVectors', format, 'node'));
    assert.match(stdout, /^missing .*modelWorker\.mjs.*--external:farwharf/, stderr);
  });
}

for (const [library, name] of [
  ['remote', 'RemoteClient'],
  ['agents', 'Flow'],
] as const) {
  test(`in a bundle for browsers farwharf/${library} says that it needs Node.js`, async () => {
    const source = `import { ${name} } from 'farwharf/${library}';\nconsole.log(new ${name}());\n`;
    writeFileSync(join(project, `${library}.js`), source);
    const { status, stderr } = run(await bundle(library, 'esm', 'browser'));
    assert.notEqual(status, 0);
    assert.match(stderr, new RegExp(`Error: farwharf/${library} runs in Node\\.js only`));
  });
}
