import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { farwharfHome } from '../../../../src/core/files/home.ts';
import { writeBudget } from '../../../../src/jobs/ledger/projectBudgets.ts';
import {
  emptyFolder,
  eventually,
  jobIn,
  logWith,
  newestJob,
  prepareWorkspace,
  submit,
  workspaceFolder,
} from '../../support/inside.ts';
import { FIRST_LINE, LAST_LINE, RESULT, RESULT_TEXT, SCRIPT } from '../../support/workspace.ts';

suite('jobs', () => {
  setup(emptyFolder);

  test('a submitted folder runs, and its output is there before it ends', async () => {
    const workspace = await prepareWorkspace('live');
    await submit({ script: SCRIPT });
    assert.doesNotMatch(await logWith(FIRST_LINE), new RegExp(LAST_LINE));
    const running = await jobIn('running');
    assert.equal(running.script, SCRIPT);
    assert.equal(running.folder, workspaceFolder());
    await workspace.open();
    await logWith(LAST_LINE);
    await jobIn('succeeded');
    // Its own event brings it.
    await eventually(() => newestJob()?.exitCode === 0, 'exit code 0');
  });

  test('results come back into the folder', async () => {
    await (await prepareWorkspace('results')).open();
    await submit({ script: SCRIPT });
    const { id } = await jobIn('succeeded');
    await vscode.commands.executeCommand('farwharf.downloadResults', id);
    await eventually(() => newestJob()?.downloadedAt ?? undefined, 'downloaded results');
    assert.equal(await readFile(join(workspaceFolder(), RESULT), 'utf8'), RESULT_TEXT);
  });

  test('new results are downloaded without a question if the user chose that', async () => {
    const settings = vscode.workspace.getConfiguration('farwharf');
    await settings.update('downloadResults', 'whenNew', vscode.ConfigurationTarget.Global);
    try {
      await (await prepareWorkspace('automatic')).open();
      await submit({ script: SCRIPT });
      await eventually(() => newestJob()?.downloadedAt ?? undefined, 'downloaded results');
      assert.equal(await readFile(join(workspaceFolder(), RESULT), 'utf8'), RESULT_TEXT);
    } finally {
      await settings.update('downloadResults', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('credits are held while a job runs and charged when it ended', async () => {
    const workspace = await prepareWorkspace('credits');
    await submit({ script: SCRIPT, machineClass: 'paid' });
    const running = await jobIn('running');
    assert.ok(Number(running.creditHold) > 0, `held ${running.creditHold}`);
    await workspace.open();
    await jobIn('succeeded');
    const charged = await eventually(() => newestJob()?.creditsCharged ?? undefined, 'charged credits');
    assert.ok(charged > 0 && charged < Number(running.creditHold), `charged ${charged} of ${running.creditHold}`);
  });

  test('a cancelled job ends before its work is done', async () => {
    await prepareWorkspace('cancel');
    await submit({ script: SCRIPT });
    const { id } = await jobIn('running');
    await logWith(FIRST_LINE);
    await vscode.commands.executeCommand('farwharf.cancelJob', id);
    await jobIn('cancelled');
    assert.doesNotMatch(await logWith(FIRST_LINE), new RegExp(LAST_LINE));
  });

  test('a running job over a hard budget is cancelled after the time that the user chose', async () => {
    const settings = vscode.workspace.getConfiguration('farwharf');
    await prepareWorkspace('budget');
    await submit({ script: SCRIPT, machineClass: 'paid' });
    await jobIn('running');
    await settings.update('cancelOverBudget', 1, vscode.ConfigurationTarget.Global);
    await writeBudget(farwharfHome(), '', { hard: 0 });
    try {
      await jobIn('cancelled');
    } finally {
      await writeBudget(farwharfHome(), '', undefined);
      await settings.update('cancelOverBudget', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  test('a result that would overwrite other work is kept beside it', async () => {
    await (await prepareWorkspace('conflict')).open();
    await submit({ script: SCRIPT });
    const { id } = await jobIn('succeeded');
    const mine = '{"loss":"mine"}\n';
    await writeFile(join(workspaceFolder(), RESULT), mine);
    await vscode.commands.executeCommand('farwharf.downloadResults', { id, keepBoth: true });
    await eventually(() => newestJob()?.downloadedAt ?? undefined, 'downloaded results');
    assert.equal(await readFile(join(workspaceFolder(), RESULT), 'utf8'), mine);
    const kept = (await readdir(workspaceFolder())).filter((name) => /^metrics \(job .+\)\.json$/.test(name));
    assert.equal(kept.length, 1);
    assert.equal(await readFile(join(workspaceFolder(), kept[0] ?? ''), 'utf8'), RESULT_TEXT);
  });
});
