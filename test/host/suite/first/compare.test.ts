import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { emptyFolder, eventually, jobIn, prepareWorkspace, submit, workspaceFolder } from '../../support/inside.ts';
import { SCRIPT } from '../../support/workspace.ts';

function submittedUri(id: string, path: string): vscode.Uri {
  return vscode.Uri.file(join(workspaceFolder(), path)).with({ scheme: 'farwharf-job', authority: id });
}

/** Compares a job and takes the first offer, the folder as it is now. */
async function compareWithFolder(id: string): Promise<void> {
  const comparing = Promise.resolve(vscode.commands.executeCommand('farwharf.compareSubmitted', id));
  let isOver = false;
  const over = comparing.finally(() => (isOver = true));
  await eventually(async () => {
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    return isOver || undefined;
  }, 'the end of the comparison');
  await over;
}

suite('submitted files', () => {
  setup(emptyFolder);

  test('what changed since a job was submitted opens in one editor', async () => {
    await (await prepareWorkspace('compare')).open();
    await submit({ script: SCRIPT });
    const { id } = await jobIn('succeeded');
    const script = submittedUri(id, SCRIPT);
    const before = Buffer.from(await vscode.workspace.fs.readFile(script)).toString();
    await writeFile(join(workspaceFolder(), SCRIPT), '// changed since\n');
    await writeFile(join(workspaceFolder(), 'added.txt'), 'new\n');
    await compareWithFolder(id);
    const title = new RegExp(`${SCRIPT}.*→ the folder`);
    const openTabs = (): string[] => vscode.window.tabGroups.activeTabGroup.tabs.map(({ label }) => label);
    await eventually(() => openTabs().some((label) => title.test(label)), 'an editor', openTabs);
    const now = Buffer.from(await vscode.workspace.fs.readFile(script)).toString();
    assert.equal(now, before, 'the submitted file is as it was');
    assert.doesNotMatch(now, /changed since/);
  });

  test('a submitted file cannot be changed, and an address that names no job leads nowhere', async () => {
    await (await prepareWorkspace('readonly')).open();
    await submit({ script: SCRIPT });
    const { id } = await jobIn('succeeded');
    const root = submittedUri(id, '');
    const names = (await vscode.workspace.fs.readDirectory(root)).map(([name]) => name);
    assert.ok(names.includes(SCRIPT), names.join());
    const script = vscode.Uri.joinPath(root, SCRIPT);
    await assert.rejects(Promise.resolve(vscode.workspace.fs.writeFile(script, Buffer.from('x'))));
    for (const authority of ['..', '../jobs', '../../../etc', id.slice(0, 8), '']) {
      const uri = script.with({ authority });
      await assert.rejects(Promise.resolve(vscode.workspace.fs.readFile(uri)), authority);
    }
    for (const path of ['/etc/passwd', `${root.path}/../../etc/passwd`, `${root.path}/missing`]) {
      await assert.rejects(Promise.resolve(vscode.workspace.fs.readFile(root.with({ path }))), path);
    }
  });
});
