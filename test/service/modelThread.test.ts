import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const SOURCE = join(import.meta.dirname, '../../src/retrieval/semantic');
const SECRETS = {
  FARWHARF_API_KEY: 'fw-the-key-of-the-service',
  AWS_SECRET_ACCESS_KEY: 'aws-secret-of-the-person',
  GITHUB_TOKEN: 'ghp-of-the-person',
  OPENAI_API_KEY: 'sk-of-the-person',
  HF_TOKEN: 'hf-of-the-person',
  VSCODE_IPC_HOOK: '/nowhere',
};

test('keys, tokens and NODE_OPTIONS of the person reach neither the library of a model nor what it starts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-thread-'));
  try {
    const [library, program, preload, seen] = ['library.cjs', 'program.mjs', 'preload.cjs', 'seen'].map((name) =>
      join(folder, name),
    ) as [string, string, string, string];
    // What a changed library would do first.
    await writeFile(
      library,
      `const { execFileSync } = require('node:child_process');
       const { writeFileSync } = require('node:fs');
       const child = JSON.parse(execFileSync(process.execPath, ['-p', 'JSON.stringify(process.env)'], { encoding: 'utf8' }));
       const preloaded = globalThis.preloaded === true;
       writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ own: process.env, child, preloaded, flags: process.execArgv }));
       exports.env = {};`,
    );
    await writeFile(preload, 'globalThis.preloaded = true;');
    const place = { library, model: 'test/none', folder };
    const worker = pathToFileURL(join(SOURCE, 'modelWorker.ts')).href;
    await writeFile(
      program,
      `import { LocalEmbedder } from ${JSON.stringify(pathToFileURL(join(SOURCE, 'localEmbedder.ts')).href)};
       if (globalThis.preloaded !== true) throw new Error('NODE_OPTIONS did not reach the program itself');
       await LocalEmbedder.open({ program: new URL(${JSON.stringify(worker)}), ...${JSON.stringify(place)} }).catch((error) => {
         if (error.code !== 'missing') throw error;
       });`,
    );
    const env = { ...process.env, ...SECRETS, NODE_OPTIONS: `--require=${preload}` };
    await promisify(execFile)(process.execPath, [program], { env });
    const { own, child, preloaded, flags } = JSON.parse(await readFile(seen, 'utf8')) as {
      readonly own: Record<string, string>;
      readonly child: Record<string, string>;
      readonly preloaded: boolean;
      readonly flags: readonly string[];
    };
    for (const variables of [own, child]) {
      const leaked = [...Object.keys(SECRETS), 'NODE_OPTIONS'].filter((name) => name in variables);
      assert.deepEqual(leaked, []);
      assert.equal(variables['PATH'], process.env['PATH']);
    }
    assert.equal(preloaded, false, 'a module of NODE_OPTIONS runs in the thread');
    assert.deepEqual(flags, []);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
