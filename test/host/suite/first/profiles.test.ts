import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { farwharfHome } from '../../../../src/core/files/home.ts';
import { saveConsent } from '../../../../src/jobs/profiles/profileConsent.ts';
import {
  emptyFolder,
  eventually,
  jobIn,
  newestJob,
  prepareWorkspace,
  submit,
  workspaceFolder,
} from '../../support/inside.ts';
import { SCRIPT } from '../../support/workspace.ts';

const PROFILES = {
  train: { script: SCRIPT, arguments: ['--epochs', '3'], maxRuntime: 90, environment: { FROM: '${env:PATH}' } },
  lost: { script: 'gone.py', machineClass: 'h100', service: 'nowhere.example.org' },
};

async function openProfiles(profiles: object = PROFILES): Promise<vscode.TextDocument> {
  const file = join(workspaceFolder(), 'farwharf.json');
  const text = JSON.stringify({ profiles }, null, 2);
  await writeFile(file, text);
  const document = await vscode.workspace.openTextDocument(file);
  await vscode.window.showTextDocument(document);
  // It may be open since the test before, and VS Code sees the change on disk later.
  await eventually(
    () => document.getText() === text,
    'the new text',
    () => document.getText(),
  );
  return document;
}

suite('profiles', () => {
  setup(emptyFolder);

  test('a profile is submitted with its terms, once its variables are allowed', async () => {
    const workspace = await prepareWorkspace('profile');
    await workspace.open();
    await openProfiles();
    const consent = { host: 'local', isSwitch: false, variables: ['PATH'], include: [], secrets: [], volumes: [] };
    await saveConsent(farwharfHome(), workspaceFolder(), consent);
    await vscode.workspace
      .getConfiguration('farwharf')
      .update('confirmSubmit', 'never', vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('farwharf.submitProfile', { profile: 'train' });
    const { script, maxRuntime, venv } = await jobIn('succeeded');
    assert.deepEqual([script, maxRuntime], [`${SCRIPT} --epochs 3`, 90]);
    assert.deepEqual(venv, { env: { FROM: process.env['PATH'] } });
  });

  test('each profile has its actions, and what does not exist is marked at its place', async () => {
    await prepareWorkspace('lenses');
    const { uri } = await openProfiles();
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>('vscode.executeCodeLensProvider', uri);
    assert.deepEqual(
      lenses.map(({ command }) => command?.title),
      ['$(rocket) Submit', '$(checklist) Preview', '$(rocket) Submit', '$(checklist) Preview'],
    );
    const marked = await eventually(
      () => {
        const found = vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'farwharf');
        return found.length === 2 && found;
      },
      'two warnings',
      () => vscode.languages.getDiagnostics(uri),
    );
    assert.deepEqual(marked.map(({ message }) => message.slice(0, 30)).sort(), [
      'The profile names the service ',
      'gone.py does not exist in this',
    ]);
  });

  test('errors of the structure are marked by the schema', async () => {
    const { uri } = await openProfiles({ train: { script: SCRIPT, maxRuntim: 5 } });
    await eventually(
      () => vscode.languages.getDiagnostics(uri).some(({ message }) => message.includes('maxRuntim')),
      'a problem with the unknown field',
      () => vscode.languages.getDiagnostics(uri),
    );
  });

  test('machine classes are completed with their prices', async () => {
    const workspace = await prepareWorkspace('classes');
    await workspace.open();
    await submit({ script: SCRIPT }); // asks the service for its prices
    const document = await openProfiles({ train: { script: SCRIPT, machineClass: '' } });
    const at = document.getText().indexOf('"machineClass": "') + '"machineClass": "'.length;
    const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      document.positionAt(at),
    );
    const found = items.filter(({ detail }) => /price|credits a minute/.test(detail ?? ''));
    assert.deepEqual(
      found.map(({ insertText, detail }) => [insertText, detail]),
      [
        ['"local"', 'no price on this machine'],
        ['"paid"', '0.1 credits a minute on this machine'],
      ],
    );
  });
});

suite('tasks', () => {
  setup(emptyFolder);

  /** Runs a task; gives its exit code. */
  async function run(definition: object, act: () => Promise<void> = async () => {}): Promise<number | undefined> {
    await vscode.workspace
      .getConfiguration('farwharf')
      .update('confirmSubmit', 'never', vscode.ConfigurationTarget.Global);
    const folder = vscode.workspace.workspaceFolders?.[0];
    assert.ok(folder);
    const tasks = await vscode.tasks.fetchTasks({ type: 'farwharf' });
    const [task] = tasks.filter((one) => JSON.stringify(one.definition) === JSON.stringify(definition));
    assert.ok(task, JSON.stringify(tasks.map((one) => one.definition)));
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const listening = vscode.tasks.onDidEndTaskProcess(({ exitCode, execution }) => {
      if (execution.task.name === task.name) resolve(exitCode);
    });
    try {
      await vscode.tasks.executeTask(task);
      await act();
      return await promise;
    } finally {
      listening.dispose();
    }
  }

  test('a task runs the job of a profile and has its exit code', async () => {
    await prepareWorkspace('task');
    await writeFile(
      join(workspaceFolder(), 'fail.mjs'),
      'function broken() { throw new Error("no data"); }\nbroken();\n',
    );
    await openProfiles({ fail: { script: 'fail.mjs' }, good: { script: 'good.mjs' } });
    await writeFile(join(workspaceFolder(), 'good.mjs'), 'console.log(1);\n');
    assert.equal(await run({ type: 'farwharf', profile: 'good' }), 0);
    assert.equal(await run({ type: 'farwharf', profile: 'fail' }), 1);
    const [problem] = await eventually(() => {
      const found = vscode.languages.getDiagnostics(vscode.Uri.file(join(workspaceFolder(), 'fail.mjs')));
      return found.length > 0 && found;
    }, 'a problem at the line');
    assert.equal(problem?.range.start.line, 0);
    assert.equal(problem.source, 'farwharf job');
  });

  test('a task of tasks.json runs a script, waits for the one that it depends on, and its output is matched for problems', async () => {
    await prepareWorkspace('chain');
    const write = (path: string, text: string): Promise<void> => writeFile(join(workspaceFolder(), path), text);
    await write('first.mjs', `console.log('good.mjs:1: first ran');\n`);
    await write('good.mjs', 'console.log(2);\n');
    const pattern = { regexp: '^(.+):(\\d+): (.+)$', file: 1, line: 2, message: 3 };
    const first = {
      label: 'first',
      type: 'farwharf',
      script: 'first.mjs',
      problemMatcher: { owner: 'chain', fileLocation: ['relative', '${workspaceFolder}'], pattern },
    };
    const chain = { label: 'chain', type: 'farwharf', script: 'good.mjs', dependsOn: 'first', problemMatcher: [] };
    await mkdir(join(workspaceFolder(), '.vscode'), { recursive: true });
    await write('.vscode/tasks.json', JSON.stringify({ version: '2.0.0', tasks: [first, chain] }));
    await eventually(
      async () => (await vscode.tasks.fetchTasks({ type: 'farwharf' })).some(({ name }) => name === 'chain'),
      'the tasks of tasks.json',
    );
    assert.equal(await run({ type: 'farwharf', script: 'good.mjs' }), 0);
    const marked = vscode.Uri.file(join(workspaceFolder(), 'good.mjs'));
    const found = await eventually(() => {
      const problems = vscode.languages.getDiagnostics(marked);
      return problems.length > 0 && problems;
    }, 'a problem in the output');
    assert.deepEqual(
      found.map(({ message, range }) => [message, range.start.line]),
      [['first ran', 0]],
    );
  });

  test('the end of a task cancels its job', async () => {
    await prepareWorkspace('terminated');
    await openProfiles({ long: { script: SCRIPT } });
    const folder = workspaceFolder();
    const terminate = async (): Promise<void> => {
      await eventually(() => {
        const job = newestJob();
        return job?.folder === folder && job.script === SCRIPT && job.state === 'running';
      }, 'a running job');
      for (const execution of vscode.tasks.taskExecutions) execution.terminate();
    };
    await run({ type: 'farwharf', profile: 'long' }, terminate);
    await jobIn('cancelled');
  });
});
