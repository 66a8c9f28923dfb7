import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { emptyFolder, workspaceFolder } from '../../support/inside.ts';

const CONNECTION = ".connect(ask, null, 'enough')";
const SOURCE = `import { Flow, Node } from 'farwharf/agents';

class Ask extends Node<object> {
  override post() {
    return 'enough';
  }
}

const ask = new Ask();
export const flow = new Flow({ start: ask })${CONNECTION};
`;

suite('quick fixes of flows', () => {
  setup(emptyFolder);

  test('a menu that is opened right after an edit has the fixes of the text on screen', async () => {
    const path = join(workspaceFolder(), 'ask.mts');
    await writeFile(path, SOURCE);
    const document = await vscode.workspace.openTextDocument(path);
    const editor = await vscode.window.showTextDocument(document);
    const fixes = async (): Promise<readonly string[]> => {
      const at = document.positionAt(document.getText().indexOf("'enough'"));
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        document.uri,
        new vscode.Range(at, at),
      );
      return actions.map(({ title }) => title).filter((title) => /"enough"/.test(title));
    };
    assert.deepEqual(await fixes(), []); // by now, all that offers actions has been started
    const start = document.positionAt(SOURCE.indexOf(CONNECTION));
    const end = document.positionAt(SOURCE.indexOf(CONNECTION) + CONNECTION.length);
    assert.ok(await editor.edit((edit) => edit.delete(new vscode.Range(start, end))));
    assert.deepEqual(await fixes(), ['End the flow at "enough"', 'Create a node Enough for "enough"']);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
});
