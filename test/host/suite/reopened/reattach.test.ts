import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { jobIn, logWith, newestJob, prepareWorkspace } from '../../support/inside.ts';
import { FIRST_LINE, LAST_LINE } from '../../support/workspace.ts';

suite('after the window was opened again', () => {
  test('the job still runs, its log is whole, and it is followed to its end', async () => {
    const id = newestJob()?.id;
    assert.equal(newestJob()?.state, 'running');
    await vscode.commands.executeCommand('farwharf.showLog', id);
    await logWith(FIRST_LINE);
    const workspace = await prepareWorkspace('reopened');
    await workspace.open();
    const text = await logWith(LAST_LINE);
    assert.equal(text.split(FIRST_LINE).length, 2, `the first line is there once, in ${text}`);
    const job = await jobIn('succeeded');
    assert.equal(job.id, id);
  });
});
