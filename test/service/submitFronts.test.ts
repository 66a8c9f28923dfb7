import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { locateProgramFiles } from '../../src/cli/command/commandContext.ts';
import { preflightJobTool, submitJobTool } from '../../src/cli/mcp/folderTools.ts';
import { captured } from '../../src/cli/mcp/toolCall.ts';
import { Terminal } from '../../src/cli/terminal/terminal.ts';
import { directLedger } from '../../src/jobs/ledger/asyncLedger.ts';
import { JobLedger } from '../../src/jobs/ledger/ledger.ts';
import { Selections } from '../../src/jobs/selection/selections.ts';
import { withStarted } from '../../src/jobs/submit/scriptTerms.ts';
import type { Sweep } from '../../src/jobs/sweeps/sweep.ts';
import { fieldOf } from '../../src/core/jsonFields.ts';
import { connectTo } from '../unit/jobs/testClient.ts';
import { sendJson, TestService } from '../unit/jobs/testService.ts';
import { Scratch } from './commandLine.ts';
import { built } from './support/built.ts';

/** A window of VS Code whose user submits without being asked, and agrees to sweeps. */
const editor = {
  workspace: {
    isTrusted: true,
    notebookDocuments: [],
    textDocuments: [],
    workspaceFolders: [] as object[],
    getConfiguration: () => ({ get: settingOf, inspect: (name: string) => ({ defaultValue: settingOf(name) }) }),
  },
  window: {
    activeTextEditor: undefined,
    withProgress: async (_: object, work: (progress: object, token: object) => Promise<unknown>) =>
      work({ report: () => {} }, { onCancellationRequested: () => ({ dispose: () => {} }) }),
    showInformationMessage: async (_text: string, _options: object, ...buttons: string[]) => buttons[0],
    showWarningMessage: async (_text: string, _options: object, ...buttons: string[]) => buttons[0],
  },
  ProgressLocation: { Window: 10, Notification: 15 },
};
Object.assign(globalThis, { editor });
registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== 'vscode') return next(specifier, context);
    const source = 'export const { workspace, window, ProgressLocation } = globalThis.editor;';
    return { url: `data:text/javascript,${source}`, shortCircuit: true };
  },
});
const { submit } = await import('../../src/extension/submit/submit.ts');

function settingOf(name: string): unknown {
  const settings = { confirmSubmit: 'never', saveBeforeSubmit: 'never', maxRuntime: 60, machineClass: '', project: '' };
  return Reflect.get(settings, name);
}

const BATCH = '#!/bin/sh\n#SBATCH --time=5\n';
const FILES = {
  'train.py': '',
  'job.sh': `${BATCH}echo\n`,
  'array.sh': `${BATCH}#SBATCH --array=1-2\necho $SLURM_ARRAY_TASK_ID\n`,
  'chat.mjs': `import { Flow, Node } from 'farwharf/agents';\nexport const chat = new Flow({ start: new Node() });\n`,
  'farwharf.json': JSON.stringify({
    profiles: {
      one: { script: 'train.py', requirements: 'missing.txt' },
      many: { script: 'train.py ${matrix:lr}', requirements: 'missing.txt', matrix: { lr: [1, 2] } },
      plain: { script: 'train.py' },
      sweep: { script: 'train.py ${matrix:lr}', matrix: { lr: [1, 2] } },
    },
  }),
};

/** A folder, and a service with this account; without one, it has no accounts. */
async function setUp(t: TestContext, account?: object) {
  const scratch = await Scratch.create();
  t.after(() => scratch[Symbol.asyncDispose]());
  const cwd = await scratch.folder('project', FILES);
  const venv = `${await scratch.folder('other', { 'venv.json': '{ "requirements": "missing.txt" }' })}/venv.json`;
  /** The time limits of the jobs that arrived. */
  const limits: unknown[] = [];
  /** Their commands. */
  const commands: unknown[] = [];
  const http = await TestService.start(t, {
    submit: async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString('latin1');
      const [, meta = ''] = /name="meta"[^]*?\r\n\r\n(\{[^]*?\})\r\n--/.exec(body) ?? [];
      const terms: unknown = JSON.parse(Buffer.from(meta, 'latin1').toString());
      limits.push(fieldOf(terms, 'max_runtime'));
      commands.push(fieldOf(terms, 'command'));
      sendJson(response, { job_id: `job-${limits.length}` });
    },
    ...(account !== undefined && {
      job: ({ url }, response) => sendJson(response, url === '/v1/me' ? account : { environments: [] }),
    }),
  });
  const env = { FARWHARF_REMOTE_HOST: http.url, FARWHARF_API_KEY: 'key' };
  const run = (...args: string[]) => scratch.run(['submit', ...args], { env, cwd });
  const { signal } = new AbortController();
  const silent = { write: (_: string, done?: () => void) => done?.() };
  const context = {
    signal,
    outputSignal: signal,
    onHangup: () => ({ dispose: () => {} }),
    onSignal: () => ({ dispose: () => {} }),
    terminal: new Terminal({ isJson: true, stdout: silent, stderr: silent }),
    env: { ...env, FARWHARF_HOME: scratch.home },
    cwd,
    stdin: () => Readable.from([]),
    remote: undefined,
    program: locateProgramFiles(built('cli.mjs')),
  };
  return {
    run,
    limits,
    commands,
    cwd,
    venv,
    tool: captured(context, signal),
    inEditor: editorOf(t, { home: scratch.home, cwd, url: http.url }),
  };
}

/** Submits in the editor. @returns the sweep, if the jobs are one. */
function editorOf(t: Pick<TestContext, 'after'>, { home, cwd, url }: { home: string; cwd: string; url: string }) {
  const ledger = new JobLedger(home);
  t.after(() => ledger.dispose());
  const client = connectTo(url);
  const selections = new Selections();
  const nothing = async (): Promise<void> => {};
  editor.workspace.workspaceFolders = [{ name: 'project', index: 0, uri: { fsPath: cwd, scheme: 'file' } }];
  return async (asked: Parameters<typeof submit>[1], packages?: string): Promise<Sweep | undefined> => {
    let sweep: Sweep | undefined;
    const services = {
      home,
      ledger: directLedger(ledger),
      log: { info: () => {}, warn: () => {}, error: () => {} },
      signal: new AbortController().signal,
      account: { ask: () => client.me(), refresh: nothing },
      files: {},
      flowRuntime: locateProgramFiles(built('cli.mjs')).flowRuntime,
      hosts: {
        current: () => url,
        service: () => client,
        secrets: () => client,
        environments: async () => [],
      },
      jobLog: { show: () => {} },
      memory: { get: () => ({ scripts: [], packages }), set: nothing, addSubmitted: nothing },
      selections: {
        select: selections.select.bind(selections),
        addFiles: selections.addFiles.bind(selections),
        reviewJob: selections.reviewJob.bind(selections),
        checkScript: selections.checkScript.bind(selections),
        pack: selections.pack.bind(selections),
        release: nothing,
      },
      store: { refresh: nothing },
      submits: { begin: async () => nothing },
      sweepPages: { show: () => {} },
      sweeps: { start: (started: Sweep) => (sweep = started) },
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that a submit uses
    await submit(services as unknown as Parameters<typeof submit>[0], { folder: cwd, ...asked });
    return sweep;
  };
}

test('no way to submit sends a job whose packages cannot be installed', async (t) => {
  const { run, limits, venv, inEditor } = await setUp(t, { account_id: 'ada', features: ['environments'] });
  const fronts = [
    ['--script', 'train.py', '--venv', venv],
    ['--profile', 'one'],
    ['--profile', 'many'],
    ['job.sh', '--venv', venv],
    ['array.sh', '--venv', venv],
    ['--script', 'array.sh', '--venv', venv],
    ['--script', 'chat.mjs', '--venv', venv],
  ];
  for (const front of fronts) {
    for (const isDryRun of [true, false]) {
      const { exit, stderr } = await run(...front, ...(isDryRun ? ['--dry-run'] : []));
      assert.match(stderr, /packages of the job cannot be installed/, front.join(' '));
      assert.equal(exit, 2, front.join(' '));
    }
  }
  const refusal = { code: 'bad-input', message: /packages of the job cannot be installed/ };
  for (const script of ['train.py', 'job.sh', 'chat.mjs']) {
    await assert.rejects(inEditor({ script }, 'missing.txt'), refusal, script);
  }
  await assert.rejects(inEditor({ script: 'train.py', packages: 'missing.txt' }), refusal);
  for (const profile of ['one', 'many']) await assert.rejects(inEditor({ profile }), refusal, profile);
  assert.deepEqual(limits, []);
});

test('every way to submit a batch script takes the terms of its #SBATCH lines', async (t) => {
  const { run, limits, tool, cwd, inEditor } = await setUp(t);
  for (const front of [['job.sh'], ['.', '--script', 'job.sh'], ['array.sh'], ['.', '--script', 'array.sh 1']]) {
    assert.equal((await run(...front)).exit, 0, front.join(' '));
  }
  await submitJobTool(tool, cwd, { script: 'job.sh 1' });
  await inEditor({ script: 'job.sh' });
  await inEditor({ file: join(cwd, 'job.sh') });
  assert.equal((await run('.', '--', '/bin/sh', '-e', './job.sh', '1')).exit, 0);
  await inEditor({ command: ['bash', 'job.sh'] });
  assert.deepEqual(
    limits,
    Array.from({ length: 11 }, () => 300),
  );
  // Flags win, and so do programs that do not run it as a script.
  assert.equal((await run('.', '--max-runtime', '7', '--', 'bash', 'job.sh')).exit, 0);
  await inEditor({ command: ['cat', 'job.sh'] });
  assert.deepEqual(limits.slice(11), [7, 60]);
  const sweep = await inEditor({ file: join(cwd, 'array.sh') });
  assert.deepEqual(
    sweep?.drafts.map(({ maxRuntime }) => maxRuntime),
    [300, 300],
  );
  const checked = await preflightJobTool(tool, cwd, { script: 'job.sh' });
  assert.equal(Reflect.get(checked.data, 'max_runtime'), 300);
  // In the list of the editor, another script was chosen.
  const chosen = await withStarted(
    cwd,
    { script: 'train.py', maxRuntime: 60, include: [], exclude: [] },
    { script: 'job.sh' },
  );
  assert.equal(chosen.maxRuntime, 300);
  const command = ['bash', 'job.sh'];
  const started = await withStarted(cwd, { ...chosen, maxRuntime: 60 }, { script: 'bash job.sh', command });
  assert.deepEqual([started.maxRuntime, started.command, started.batch?.source], [300, command, 'job.sh']);
});

test('every way to submit works with a service that has no accounts', async (t) => {
  const { run, limits, tool, cwd, inEditor } = await setUp(t);
  const fronts = [
    ['--script', 'train.py'],
    ['--profile', 'plain'],
    ['--profile', 'sweep'],
    ['job.sh'],
    ['--script', 'chat.mjs'],
  ];
  for (const front of fronts) {
    for (const isDryRun of [true, false]) {
      const { exit, stderr } = await run(...front, ...(isDryRun ? ['--dry-run'] : []));
      assert.equal(exit, 0, `${front.join(' ')}: ${stderr}`);
    }
  }
  await submitJobTool(tool, cwd, { script: 'train.py' });
  for (const script of ['train.py', 'job.sh', 'chat.mjs']) await inEditor({ script });
  await inEditor({ profile: 'plain' });
  assert.equal(limits.length, 11);
  assert.equal((await inEditor({ profile: 'sweep' }))?.drafts.length, 2);
});

test('every way to submit sends the words of a command as they are, and refuses those that no service runs', async (t) => {
  const { run, commands, tool, cwd, inEditor } = await setUp(t, { account_id: 'ada', features: ['command'] });
  const profile = (command: readonly string[]): Promise<void> =>
    writeFile(join(cwd, 'farwharf.json'), JSON.stringify({ profiles: { bad: { command } } }));
  const odd = ['tool', "it's", '"', '$HOME `id` | x', '', 'two\nlines\r', '\u001b[31m\u202e', '-x', 'ü'];
  await profile(odd);
  assert.equal((await run('.', '--', ...odd)).exit, 0);
  assert.equal((await run('--profile', 'bad')).exit, 0);
  await submitJobTool(tool, cwd, { command: odd });
  await inEditor({ command: odd });
  await inEditor({ profile: 'bad' });
  assert.deepEqual(
    commands,
    Array.from({ length: 5 }, () => odd),
  );
  for (const [words, why] of [
    [[], /must begin with the name of a program|Must have at least 1 entry|Specify a script/],
    [['', 'x'], /must begin with the name of a program/],
    [['tool', 'a\0b'], /must not contain NUL|Must be text without NUL/],
    [['tool', 'x'.repeat(100_000)], /must be at most 32 KB|Must have at most 32000 characters/],
    [['tool', ...Array<string>(1_001).fill('x')], /must be at most 1000 words|Must have at most 1000 entries/],
  ] as const) {
    await profile(words);
    const runs = [['--profile', 'bad'], ...(words.join('').includes('\0') ? [] : [['.', '--', ...words]])];
    for (const front of runs) {
      const { exit, stderr } = await run(...front);
      assert.equal(exit, 2, stderr);
      assert.match(stderr, why, front[0]);
    }
    await assert.rejects(submitJobTool(tool, cwd, { command: [...words] }), { code: 'bad-input', message: why });
    await assert.rejects(inEditor({ command: words }), { code: 'bad-input', message: why });
    await assert.rejects(inEditor({ profile: 'bad' }), { code: 'bad-input', message: why });
  }
  assert.equal(commands.length, 5);
});
