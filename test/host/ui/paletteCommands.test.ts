import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { temporaryExamples } from '../../../scripts/trackedFiles.ts';
import { isolatedEnvironment } from '../../../scripts/vscode/environment.ts';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { offeredCommands, openFile, runCommand, WAIT_TIMEOUT_MS } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';
import { editor, list, message, type Outcome, panel, picked, sideBar, statusBar, view } from '../support/outcomes.ts';

type Outcomes = Readonly<Record<string, Outcome>>;

const ROOT = join(import.meta.dirname, '../../..');
const GOOD = 'good.mjs';
const BAD = 'bad.mjs';
const FLOW = 'research.mts';
const PROMPT = 'prompt.md';
const TIDY_KEY = 'Control+Alt+t';
const TIDY_COMMANDS = ['notifications.clearAll', 'workbench.action.closePanel', 'workbench.action.closeAllEditors'];

const ANYWHERE: Outcomes = {
  'Focus on Jobs View': view('Jobs'),
  'Focus on Index View': view('Index'),
  'Open Walkthrough': async (page) => page.locator('.getting-started-step.expanded').first().waitFor(),
  'Create Sample Folder...': list('Create Sample Folder'),
  'Filter Jobs...': list('Filter jobs'),
  'Group Jobs By...': list('Group jobs by'),
  'Show Sweep': message('Show Sweep: no sweeps yet. Add a "matrix"'),
  'Download Sweep Results': message('Download Sweep Results: no sweeps yet. Add a "matrix"'),
  'Resume Sweep': message('Resume Sweep: no sweeps yet. Add a "matrix"'),
  'Cancel Sweep': message('Cancel Sweep: no sweeps yet. Add a "matrix"'),
  Refresh: statusBar('The list of jobs is up to date'),
  'Select Host': list('Where jobs run'),
  'Connect a Machine over SSH': list('Connect a machine over SSH'),
  'Set Budget...': list('Set the budget of a project'),
  'Open Settings': editor('Settings'),
  'Open Extension Log': panel('Output'),
  'Select Model': list('Select a model'),
  'Open Trace File...': list('Open'),
  'Show Output of Flows': panel('Output'),
};
const IN_RESTRICTED_MODE = message('In Restricted Mode', 'Manage Workspace Trust');
const WITH_JOBS: Outcomes = {
  'Show Log': picked('Show Log', GOOD, panel('fine')),
  'Show Job Page': picked('Show Job Page', GOOD, editor(GOOD)),
  'Compare Plots': picked('Compare Plots', GOOD, list('Compare the plots of')),
  'Compare Submitted Files': picked('Compare Submitted Files', GOOD, list('Compare')),
  'Explain This Failure': picked('Explain This Failure', BAD, editor(`Why ${BAD} failed`)),
  'Open Full Log': picked('Open Full Log', GOOD, editor(GOOD)),
  'Find in Log': picked('Find in Log', GOOD, list('Find')),
  'Show First Error in Log': picked('Show First Error in Log', BAD, editor(BAD)),
  'Save Log': picked('Save Log', GOOD, list('Save Log')),
  'Show Events': picked('Show Events', GOOD, editor('events.jsonl')),
  'Cancel Job': message('No job is queued or running'),
  'Copy Job ID': picked('Copy Job ID', GOOD, statusBar('Job ID copied')),
  'Copy Link to Job': picked('Copy Link to Job', GOOD, statusBar('Link copied')),
  'Remove from List': list('Remove from List'),
  Pin: list('Pin'),
  Unpin: message('No job in the list is pinned'),
  'Open Terminal in Job': message('No job is running'),
  'Browse Running Job': message('No job is running'),
  'Open Port of Job': message('No job is running'),
  'Attach Debugger': message('No job that was submitted with a debugger is running'),
  'Extend Hold Time': message('No job waits for a debugger'),
  'Give Up Debugging': message('No job waits for a debugger'),
};

suite('each command that the palette offers shows something', () => {
  let window: Window | undefined;
  afterEach(async (t) => {
    if (window !== undefined) await screenshotOfFailure(window.page, t);
    await window?.[Symbol.asyncDispose]();
    window = undefined;
  });

  test('in an empty window', async () => {
    window = await open(undefined);
    const { page } = window;
    const before: Outcomes = {
      ...ANYWHERE,
      'Add Job by ID...': message('The results of a job are saved in a folder', 'Open Folder'),
      'Set Secret...': list('Set a secret on'),
      'Remove Secret...': message('You have no secrets on'),
    };
    const done = await runOffered(page, before, new Set());
    await addJobs(window);
    const withJobs: Outcomes = {
      ...WITH_JOBS,
      'Download Results': picked('Download Results', GOOD, message('Results can only be saved', 'Open Folder')),
      'Browse Results': picked('Browse Results', GOOD, saveBrowsed),
      'Answer Job': message('No job waits for an answer'),
      'Submit Again': picked('Submit Again', GOOD, list(`Submit ${GOOD} again`)),
    };
    await runOffered(page, withJobs, done);
  });

  test('in Restricted Mode', async () => {
    window = await open('from a stranger');
    const { page } = window;
    const before: Outcomes = {
      ...ANYWHERE,
      'Add Job by ID...': list('Add a job of'),
      'Set Secret...': IN_RESTRICTED_MODE,
      'Remove Secret...': IN_RESTRICTED_MODE,
      'Search Folder': list('Search Folder'),
      'Clear Recent Searches': statusBar('Recent searches cleared'),
      'Rebuild Index': statusBar('Rebuilding the index'),
      'Search by Meaning...': list('Search by Meaning'),
      'Pause Index': statusBar('Index paused'),
      'Resume Index': statusBar('Index resumed'),
    };
    let done = await runOffered(page, before, new Set());
    done = await runOffered(
      page,
      {
        'Open Canvas': picked('Which flow?', 'Research', editor('Flow:')),
        'Open Prompts of the Last Run': picked('Which flow?', 'Research', message('has called a language model yet')),
        'Find Related Code': list('Related to'),
      },
      done,
      FLOW,
    );
    done = await runOffered(page, { 'Ask Models This Prompt': IN_RESTRICTED_MODE }, done, PROMPT);
    await addJobs(window);
    await runOffered(
      page,
      { ...WITH_JOBS, 'Browse Results': picked('Browse Results', GOOD, IN_RESTRICTED_MODE) },
      done,
    );
  });
});

/** Escape closes the results that are browsed, so the commands on them run while they are shown. */
async function saveBrowsed(page: Page): Promise<void> {
  await sideBar('made.txt')(page);
  await runCommand(page, 'Farwharf: Save to Folder');
  await message('Results can only be saved', 'Open Folder')(page);
  await runCommand(page, 'Farwharf: Close Results');
  await page.locator('.part.sidebar .monaco-list-row', { hasText: 'made.txt' }).waitFor({ state: 'hidden' });
}

function open(name: string | undefined): Promise<Window> {
  return openWindow({
    name,
    asksForTrust: name !== undefined,
    settings: { 'files.simpleDialog.enable': true, 'security.workspace.trust.enabled': name !== undefined },
    prepare: async (folder, scratch) => {
      await cp(join(temporaryExamples(), 'agents'), folder, { recursive: true });
      await writeFile(join(folder, PROMPT), '## user\n\nSay what this folder holds.\n');
      const user = join(scratch, 'data', 'User');
      await mkdir(user, { recursive: true });
      const keys = [
        { key: 'ctrl+alt+t', command: 'runCommands', args: { commands: TIDY_COMMANDS } },
        { key: 'ctrl+alt+m', command: 'notifications.showList' },
      ];
      await writeFile(join(user, 'keybindings.json'), JSON.stringify(keys));
    },
  });
}

/** Runs each offered command that was not run before, also those that are offered by what another did, and returns which were run. */
async function runOffered(
  page: Page,
  outcomes: Outcomes,
  before: ReadonlySet<string>,
  file?: string,
): Promise<ReadonlySet<string>> {
  const done = new Set(before);
  const order = Object.keys(outcomes);
  const show = async (): Promise<void> => {
    if (file !== undefined) await openFile(page, file);
    if (file === FLOW) await page.locator('.editor-actions a[aria-label^="Open Canvas"]').first().waitFor();
    if (file === PROMPT) await page.locator('.part.statusbar .statusbar-item', { hasText: 'Markdown' }).waitFor();
  };
  for (;;) {
    await show();
    const offered = [...(await offeredCommands(page, 'Farwharf'))].filter((title) => !done.has(title));
    if (offered.length === 0) break;
    assert.deepEqual(
      offered.filter((title) => !order.includes(title)),
      [],
      'offered here, but nobody says what it shows',
    );
    for (const [index, title] of offered.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)).entries()) {
      if (index > 0) await show();
      await runCommand(page, `Farwharf: ${title}`);
      await outcomes[title]?.(page);
      done.add(title);
      const texts = await page.locator('.notification-list-item-message').allInnerTexts();
      assert.doesNotMatch(texts.join('\n'), /unexpected|not found|undefined|cannot read/i, title);
      await tidy(page);
    }
  }
  assert.deepEqual(
    order.filter((title) => !done.has(title)),
    [],
    'not offered here',
  );
  return done;
}

/** A list that closes can open the editor again that was there before its preview, also after the key. */
async function tidy(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
  const left = page.locator('.notification-list-item, .tabs-container .tab').first();
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  do {
    assert.ok(Date.now() < deadline, 'the window was not tidied');
    await page.keyboard.press(TIDY_KEY);
    await sleep(300);
  } while (await left.isVisible());
}

/** A job that has succeeded with a result and one that has failed, of a folder that is not open, sent from a terminal. */
async function addJobs({ page, scratch }: Window): Promise<void> {
  const folder = join(scratch, 'jobs');
  await mkdir(folder);
  await writeFile(
    join(folder, GOOD),
    "import { writeFileSync } from 'node:fs';\nconsole.log('fine');\nwriteFileSync('made.txt', 'made');\n",
  );
  await writeFile(join(folder, BAD), "throw new Error('no data');\n");
  const env = { ...process.env, ...isolatedEnvironment(join(scratch, 'home')) };
  for (const script of [GOOD, BAD]) {
    const args = [join(ROOT, 'dist', 'cli.mjs'), 'submit', folder, '--script', script, '--watch'];
    await once(spawn(process.execPath, args, { env, stdio: 'ignore' }), 'exit');
  }
  await runCommand(page, 'View: Show Farwharf');
  await sideBar(BAD)(page);
}
