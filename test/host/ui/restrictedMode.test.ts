import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { installCodeServer } from '../../../scripts/vscode/install.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, offersCommand, openFile, runCommand, WAIT_TIMEOUT_MS } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { type ModelServer, startModelServer } from '../support/modelServer.ts';

const { version: VERSION } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8')) as {
  readonly version: string;
};
const FLOW = 'flow.mts';
const NAME = 'from a stranger';
const PROMPT = 'prompt.md';
/**
 * Calls that reach a command past the palette and its `when` clauses, as a key binding or another extension makes them, each on a
 * key of its own. `$FOLDER` is the folder.
 */
const CALLS: readonly (readonly [command: string, args?: unknown])[] = [
  ['farwharf.submitWorkspace', { folder: '$FOLDER', script: 'main.mjs' }],
  ['farwharf.submitFile', { folder: '$FOLDER', file: '$FOLDER/main.mjs' }],
  ['farwharf.runFlow', { uri: `file://$FOLDER/${FLOW}`, flow: 'flow' }],
  ['farwharf.debugFlow', { uri: `file://$FOLDER/${FLOW}`, flow: 'flow' }],
  ['farwharf.submitFlow', { uri: `file://$FOLDER/${FLOW}`, flow: 'flow' }],
  ['farwharf.readFlowByRunning', { uri: `file://$FOLDER/${FLOW}`, flow: 'flow' }],
  ['farwharf.newFlow'],
  ['farwharf.askFolder'],
  ['farwharf.tryPrompt'],
];
const [SHOW_NOTIFICATIONS, CLEAR_NOTIFICATIONS] = ['y', 'z'];
const keyOf = (index: number): string => String.fromCharCode('a'.charCodeAt(0) + index);
/** Commands that send, run or write, by how the palette shows them. */
const FORBIDDEN = ['Submit Workspace', 'Run Flow', 'Debug Flow', 'Submit Flow as Job', 'Read Flow by Running Its File'];

suite('a folder from a stranger', () => {
  let window: Window;
  let stranger: ModelServer;
  let marker = '';

  before(async () => {
    stranger = await startModelServer();
    window = await openWindow({
      name: NAME,
      asksForTrust: true,
      // Git of VS Code itself would run what the repository names, as soon as the folder is trusted.
      settings: {
        'security.workspace.trust.enabled': true,
        'git.enabled': false,
        'terminal.integrated.gpuAcceleration': 'off', // shows text as text of the page
        'terminal.integrated.initialHint': false,
      },
      prepare: async (folder, scratch) => {
        marker = join(scratch, 'marker');
        await writeHostileFolder(folder, { marker, address: new URL(stranger.baseUrl).origin });
        await writeKeyBindings(scratch, folder);
      },
    });
  });
  after(async () => {
    await window[Symbol.asyncDispose]();
    await stranger[Symbol.asyncDispose]();
  });
  afterEach((t) => screenshotOfFailure(window.page, t));

  const list = (): Locator => window.page.locator('.quick-input-widget');
  const findLighthouse = async (): Promise<void> => {
    await runCommand(window.page, 'Farwharf: Search Folder');
    await list().locator('.quick-input-title', { hasText: 'Search Folder' }).waitFor();
    await window.page.keyboard.type('lighthouse');
    await list().locator('.monaco-list-row', { hasText: 'notes.md' }).first().waitFor();
    await window.page.keyboard.press('Escape');
  };
  const assertUntouched = (): void => {
    assert.equal(existsSync(marker), false, 'something of the folder ran');
    assert.deepEqual(stranger.requests, [], 'something was sent to the address in its settings');
  };

  test('in Restricted Mode flows are drawn and the folder is searched, but nothing runs or is sent', async () => {
    await window.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor();
    await openFile(window.page, FLOW);
    await window.page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().click();
    const canvas = window.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
    await canvas.locator('.node').first().waitFor();
    await findLighthouse();
    assert.equal(await offersCommand(window.page, 'Farwharf: Search Folder'), true);
    for (const command of FORBIDDEN) {
      assert.equal(await offersCommand(window.page, `Farwharf: ${command}`), false, command);
    }
    assertUntouched();
    assert.equal(existsSync(join(window.scratch, 'home', 'service')), false, 'the job service was started');
  });

  test('in Restricted Mode each command refuses to run even when called without a menu', async () => {
    await openFile(window.page, PROMPT);
    await window.page.locator('.part.editor .view-line', { hasText: '## user' }).click();
    const messages = window.page.locator('.notifications-center .notification-list-item-message');
    const refusal = messages.filter({ hasText: 'Restricted Mode' }).first();
    const press = async (key: string): Promise<void> => {
      await window.page.keyboard.press('Control+Alt+k');
      await window.page.keyboard.press(key);
    };
    for (const [index, [command]] of CALLS.entries()) {
      await press(keyOf(index));
      // The list opens only when there is something in it, and a message takes a while to come.
      for (const deadline = Date.now() + WAIT_TIMEOUT_MS; !(await refusal.isVisible()); await sleep(200)) {
        assert.ok(Date.now() < deadline, `${command} was not refused`);
        await press(SHOW_NOTIFICATIONS);
      }
      await press(CLEAR_NOTIFICATIONS);
      await messages.first().waitFor({ state: 'hidden' });
    }
    assertUntouched();
    assert.equal(existsSync(join(window.scratch, 'home', 'service')), false, 'the job service was started');
  });

  test('settings of a trusted folder cannot choose a host or a model', async () => {
    await runCommand(window.page, 'Workspaces: Manage Workspace Trust');
    await window.page.locator('.workspace-trust-editor .monaco-button', { hasText: 'Trust' }).first().click();
    await window.page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ state: 'detached' });
    await findLighthouse();
    await runCommand(window.page, 'View: Show Farwharf');
    await runCommand(window.page, 'Farwharf: Submit Workspace');
    await choose(window.page, 'main.mjs');
    await list()
      .filter({ hasText: `Submit ${NAME} to this machine` })
      .waitFor();
    await window.page.keyboard.press('Escape');
    assertUntouched();
    const settings = await readFile(join(window.scratch, NAME, '.vscode', 'settings.json'), 'utf8');
    assert.match(settings, /farwharf\.host/, 'the folder has its settings');
  });

  test('the terminal of a trusted folder has the command farwharf, after all that its user has installed', async (t) => {
    if (!(await hasTerminals())) {
      t.skip('code-server of this version comes from npm without the native module of its terminals');
      return;
    }
    const { page } = window;
    const screen = page.locator('.terminal-wrapper.active .xterm-rows.xterm-focus');
    const enter = async (command: string, output: string): Promise<void> => {
      await page.keyboard.type(command);
      await page.keyboard.press('Enter');
      await screen.filter({ hasText: output }).waitFor();
    };
    await runCommand(page, 'Terminal: Create New Terminal');
    await screen.filter({ hasText: /[#$]/ }).waitFor();
    await enter('farwharf --version', VERSION);
    await enter('farwharf search lighthouse', 'notes.md');
    await enter('echo "The last is ${PATH##*/}."', 'The last is terminal.');
  });
});

async function hasTerminals(): Promise<boolean> {
  const { entry } = await installCodeServer(() => {});
  const cwd = join(entry, '../../../lib/vscode/node_modules/node-pty');
  return (await Array.fromAsync(glob('{build/Release,prebuilds/*}/pty.node', { cwd }))).length > 0;
}

/** A key for each call, and for each notification. */
async function writeKeyBindings(scratch: string, folder: string): Promise<void> {
  const user = join(scratch, 'data', 'User');
  await mkdir(user, { recursive: true });
  const calls = CALLS.map(([command, args], index) => ({ key: `ctrl+alt+k ${keyOf(index)}`, command, args }));
  const bindings = [
    ...calls,
    { key: `ctrl+alt+k ${SHOW_NOTIFICATIONS}`, command: 'notifications.showList' },
    { key: `ctrl+alt+k ${CLEAR_NOTIFICATIONS}`, command: 'notifications.clearAll' },
  ];
  await writeFile(join(user, 'keybindings.json'), JSON.stringify(bindings).replaceAll('$FOLDER', folder));
}

/** A folder whose settings, repository, tasks and flow would send something to an address or write a file, if they were obeyed. */
async function writeHostileFolder(
  folder: string,
  { marker, address }: { readonly marker: string; readonly address: string },
): Promise<void> {
  await mkdir(join(folder, '.vscode'), { recursive: true });
  execFileSync('git', ['init', '--quiet', folder]);
  for (const key of ['core.fsmonitor', 'core.sshCommand', 'diff.external', 'core.pager', 'core.editor']) {
    execFileSync('git', ['-C', folder, 'config', key, `touch '${marker}'; false`]);
  }
  const settings = {
    'farwharf.host': address,
    'farwharf.model.provider': 'openai',
    'farwharf.model.name': 'stub-1',
    'farwharf.model.baseUrl': `${address}/v1`,
    'http.proxy': address,
    'http.proxySupport': 'override',
  };
  const write = `writeFileSync(${JSON.stringify(marker)}, '');`;
  const files: Readonly<Record<string, string>> = {
    '.vscode/settings.json': JSON.stringify(settings),
    'main.mjs': `import { writeFileSync } from 'node:fs';\n${write}\n`,
    [PROMPT]: '## user\n\nSay what this folder holds.\n',
    'notes.md': '# Notes\n\nThe lighthouse stands on a rock.\n',
    [FLOW]: [
      "import { writeFileSync } from 'node:fs';",
      "import { Flow, Node } from 'farwharf/agents';",
      write,
      `class Look extends Node<object> {\n  override post() {\n    ${write}\n    return 'end';\n  }\n}`,
      'const look = new Look();',
      "export const flow = new Flow<object>({ start: look }).connect(look, null, 'end');",
      '',
    ].join('\n'),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
}
