import assert from 'node:assert/strict';
import * as vscode from 'vscode';

suite('activation', () => {
  const extension = vscode.extensions.getExtension('farwharf.farwharf');

  test('the extension is installed and activates', async () => {
    assert.ok(extension, 'farwharf.farwharf is not installed');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  test('every command of the manifest is registered', async () => {
    assert.ok(extension);
    await extension.activate();
    const manifest = extension.packageJSON as { contributes?: { commands?: readonly { command: string }[] } };
    const registered = new Set(await vscode.commands.getCommands(true));
    const declared = (manifest.contributes?.commands ?? []).map(({ command }) => command);
    assert.ok(declared.length > 0);
    assert.deepEqual(
      declared.filter((command) => !registered.has(command)),
      [],
    );
  });
});
