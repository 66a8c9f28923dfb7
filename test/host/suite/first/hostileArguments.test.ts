import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
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

/** Commands that take arguments, which any other extension can give. */
const COMMANDS = [
  'submitWorkspace submitFile submitProfile resubmitJob cancelJob removeJob downloadResults copyJobId copyJobLink showLog showJobPage',
  'pinJob unpinJob addJob groupJobs filterJobs clearJobFilter showMoreJobs setBudget setSecret removeSecret',
  'showEvents openFullLog findInLog showFirstError saveLog comparePlots compareSubmitted openIgnoreRule returnToSubmit browseResults saveResults saveResult compareResult closeResults',
  'openCanvas runFlow debugFlow submitFlow replayFlow readFlowByRunning openPrompts tryPrompt',
  'askFollowUp askAgain stopAnswer searchFolder',
].flatMap((names) => names.split(' '));

const ARGUMENTS: readonly unknown[] = [
  null,
  42,
  'x'.repeat(1_000_000),
  '../../../../etc/passwd',
  '__proto__',
  ['farwharf'],
  { id: '../../../../etc' },
  { job: { toString: 'x' }, keepBoth: true },
  { type: 'job', id: '' },
  { folder: '/', script: 'evil.sh' },
  { folder: '/etc', script: 'passwd' },
  { file: '/etc/passwd' },
  { scheme: 'file', fsPath: '/etc/passwd', path: '/etc/passwd' },
  { uri: 'file:///etc/passwd', flow: '__proto__' },
  { uri: 'command:workbench.action.quit' },
  { uri: 'not an address', flow: 5 },
  JSON.parse('{"__proto__":{"script":"evil.sh"},"script":"","maxRuntime":1e999}'),
];

/** Calls a command as another extension does, and leaves every list that it opens for a person. */
async function callAndLeave(command: string, argument: unknown): Promise<void> {
  const over = new AbortController();
  const call = Promise.resolve(vscode.commands.executeCommand(`farwharf.${command}`, argument)).finally(() =>
    over.abort(),
  );
  while (!over.signal.aborted) {
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    await sleep(20, undefined, { signal: over.signal }).catch(() => {}); // aborted as soon as the call is over
  }
  await call;
}

suite('commands that other extensions call', () => {
  setup(emptyFolder);

  test('hostile arguments are refused: nothing is sent, run, written, cancelled or removed', async () => {
    const gated = await prepareWorkspace('hostile');
    await submit({ script: SCRIPT });
    const running = await jobIn('running');
    const settings = vscode.workspace.getConfiguration('farwharf');
    await settings.update('confirmSubmit', 'always', vscode.ConfigurationTarget.Global);
    const marker = join(workspaceFolder(), 'marker');
    await writeFile(join(workspaceFolder(), 'evil.sh'), `touch '${marker}'\n`);
    const before = await readdir(workspaceFolder());
    await vscode.env.clipboard.writeText('what was there');
    for (const command of COMMANDS) {
      for (const argument of ARGUMENTS) await callAndLeave(command, argument);
    }
    assert.deepEqual(await readdir(workspaceFolder()), before);
    assert.equal(newestJob()?.id, running.id, 'no job was submitted');
    assert.equal(newestJob()?.state, 'running', 'no job was cancelled');
    assert.equal(await vscode.env.clipboard.readText(), 'what was there');
    await gated.open();
    await jobIn('succeeded');
  });

  test('the beginning of an id names no job', async () => {
    const gated = await prepareWorkspace('beginnings');
    await submit({ script: SCRIPT });
    const { id, jobId } = await jobIn('running');
    for (const name of [id, jobId ?? '']) await callAndLeave('cancelJob', name.slice(0, 8));
    assert.equal(newestJob()?.state, 'running');
    await callAndLeave('cancelJob', id);
    await eventually(() => newestJob()?.state === 'cancelled', 'the job that was named whole to be cancelled');
    await gated.open();
  });
});
