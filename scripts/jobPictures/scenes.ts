import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { choose, followLink, openFile, pressOnRow, runCommand } from '../vscode/workbench.ts';
import type { JobWindow } from './jobWindow.ts';
import { FAIL, RESULT, SWEEP, TRAIN } from './trainingFolder.ts';

const SCRIPT_ROW = /^\s*Script/; // of the preflight; other rows talk about scripts

/** What a window without a folder shows, before anything was ever submitted from it. */
export async function takeEmptyWindow(window: JobWindow): Promise<void> {
  const { page } = window;
  const opened = page.url();
  await page.goto(new URL('/?ew=true', opened).toString());
  await runCommand(page, 'View: Show Farwharf');
  await page.locator('.welcome-view', { hasText: 'Open Folder' }).first().waitFor();
  await window.pictures('empty-window');
  await page.goto(opened);
  await runCommand(page, 'View: Show Farwharf');
}

export async function connect(window: JobWindow): Promise<void> {
  await window.run('Select Host');
  await choose(window.page, 'Connect a Service');
  await window.answer('Connect a service', window.service.url);
  await window.answer('Sign in to', window.key);
  await window.page.locator('.statusbar-item', { hasText: '312 cr' }).waitFor();
  await runCommand(window.page, 'View: Show Farwharf');
}

/** The questions before a submit, with what is missing, large or left out. */
export async function takePreflight(window: JobWindow): Promise<void> {
  const { page } = window;
  await openFile(page, TRAIN);
  await runCommand(page, 'View: Show Farwharf');
  await window.run('Submit Workspace');
  await window.list('open in the editor').waitFor();
  await window.picture('preflight-scripts');
  await window.typeAndChoose('Submit digits: script', 'trian.mjs', 'run this script');
  await window.list('trian.mjs').filter({ hasText: 'Check before you submit' }).waitFor();
  await window.picture('preflight-missing-script');
  await choose(page, SCRIPT_ROW);
  await choose(page, TRAIN);
  await window.list(`Submit ${TRAIN}`).waitFor();
  await window.pictures('preflight');
  await window.typeAndChoose(`Submit ${TRAIN}`, 'Left out', /^\s*Left out/);
  await window.list('left out').waitFor();
  await window.picture('preflight-left-out');
  await page.keyboard.press('Escape');
  await window.list(`Submit ${TRAIN}`).waitFor();
  await window.picture('preflight-after-escape');
  await window.typeAndChoose(`Submit ${TRAIN}`, 'all files', 'Show all files');
  await page.locator('.part.sidebar .monaco-list-row', { hasText: '.env' }).first().click();
  await page.keyboard.press('End');
  await window.pictures('preflight-all-files');
  await page.locator('.part.sidebar .monaco-list-row', { hasText: 'weights.bin' }).getByRole('checkbox').click();
  await page.locator('.part.sidebar .monaco-list-row', { hasText: 'weights.bin' }).click();
  await page.keyboard.press('Escape');
  await window.list(`Submit ${TRAIN}`).waitFor();
  await page.keyboard.press('Escape');
}

/** A job that trains: its row, its log with a bar that moves, and its page. */
export async function takeTraining(window: JobWindow): Promise<void> {
  const { page } = window;
  await window.run('Submit Workspace');
  const line = `${TRAIN} --epochs 3 --learning-rate 0.001 --batch-size 64`;
  await window.typeAndChoose('Submit digits: script', line, 'run this script');
  await choose(page, `Submit ${TRAIN}`);
  await window.row(TRAIN, /62 %/).waitFor();
  await window.pictures('training-log');
  await window.runOn('Show Job Page', TRAIN);
  await window.webview('samples.png');
  await runCommand(page, 'View: Toggle Panel Visibility');
  await window.pictures('training-page');
  await runCommand(page, 'View: Toggle Panel Visibility');
}

/** A key that is revoked while the job runs, and the sign-in that follows it again. */
export async function takeRevokedKey(window: JobWindow): Promise<void> {
  const { page } = window;
  await window.renewKey();
  await window.row(TRAIN, 'last seen running').waitFor();
  await window.row(TRAIN).hover();
  await window.pictures('revoked-key');
  await window.row(TRAIN).hover();
  await window.row(TRAIN).getByRole('button', { name: 'Sign In' }).click();
  await window.list('Sign in to').waitFor();
  await window.picture('revoked-key-sign-in');
  await window.answer('Sign in to', window.key);
  await window.row(TRAIN, /running/).waitFor();
  await writeFile(window.gate, '');
  await window.row(TRAIN, /succeeded/).waitFor();
  await page.mouse.move(900, 300);
  await window.pictures('training-ended');
}

/** Results that the user changed too, results as a drive, and one file taken from it. */
export async function takeResults(window: JobWindow): Promise<void> {
  const { page } = window;
  await writeFile(join(window.folder, RESULT), '{"loss":"mine"}\n');
  await window.runOn('Download Results', TRAIN);
  await window.list('Results of').waitFor();
  await window.pictures('conflicts');
  await page.keyboard.press('Escape');
  await window.runOn('Browse Results', TRAIN);
  const file = page.locator('.part.sidebar .monaco-list-row', { hasText: 'confusion.csv' });
  await file.click();
  await page.locator('.tabs-container .tab', { hasText: 'confusion.csv' }).waitFor();
  await window.pictures('results');
  await pressOnRow(page, file, 'Save to Folder');
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'confusion.csv' }).waitFor();
  await window.picture('results-one-file');
  await runCommand(page, 'View: Show Farwharf');
}

/** A job that fails: its log, the link of its trace after the file was edited, its files compared with the folder. */
export async function takeFailure(window: JobWindow): Promise<void> {
  const { page } = window;
  await openFile(page, FAIL);
  await runCommand(page, 'View: Show Farwharf');
  await window.run('Submit This File');
  await choose(page, `Submit ${FAIL}`);
  await window.row(FAIL, 'exit 1').waitFor();
  await window.logLine('failed').waitFor();
  await window.pictures('failed');
  const model = join(window.folder, 'src', 'model.mjs');
  await writeFile(model, `// Scores of models.\n\n${await readFile(model, 'utf8')}`);
  const link = window.logLine('src/model').locator('.detected-link').first();
  await followLink(page, link, page.locator('.tabs-container .tab', { hasText: 'model.mjs' }));
  await window.picture('trace-after-edit');
  await window.runOn('Compare Submitted Files', FAIL);
  await choose(page, 'The folder as it is now');
  await page.locator('.tabs-container .tab', { hasText: 'the folder' }).waitFor();
  await window.picture('compared-with-folder');
}

/** The same job as a task, in its terminal. */
export async function takeTask(window: JobWindow): Promise<void> {
  const { page } = window;
  await runCommand(page, 'Tasks: Run Task');
  await choose(page, 'farwharf');
  await choose(page, 'evaluate');
  await choose(page, `Submit ${FAIL}`);
  await window.row(FAIL, 'exit 1').nth(0).waitFor();
  await page.locator('.part.panel .terminal-wrapper').waitFor();
  await runCommand(page, 'View: Toggle Maximized Panel');
  await page.waitForTimeout(4_000); // a terminal is drawn on a canvas, which cannot be read
  await window.picture('task-terminal');
  await runCommand(page, 'View: Toggle Maximized Panel');
}

/** A sweep of 12 jobs under a budget of its project. */
export async function takeSweep(window: JobWindow): Promise<void> {
  const { page } = window;
  await window.run('Set Budget');
  await window.typeAndChoose('Set the budget', 'vision', 'vision');
  await window.answer('Warn before', '10');
  await window.answer('Block submits', '100');
  await window.list('Block submits').waitFor({ state: 'hidden' });
  await window.run('Submit Profile');
  await choose(page, SWEEP);
  const dialog = page.locator('.monaco-dialog-box', { hasText: '12 jobs' });
  await dialog.waitFor();
  await window.picture('sweep-question');
  await dialog.getByRole('button', { name: 'Submit' }).click();
  await window.webview(/[4-8] of 12 done/);
  await window.pictures('sweep');
  await window.webview('12 of 12 done');
  await window.picture('sweep-done');
}

/** A submit while the service is down. */
export async function takeServiceDown(window: JobWindow): Promise<void> {
  const { page } = window;
  process.kill(window.service.pid, 'SIGKILL');
  await window.run('Submit Workspace');
  const message = page.locator('.notification-list-item', { hasText: 'Nothing was sent' }).first();
  while (!(await message.isVisible())) {
    await runCommand(page, 'Notifications: Show Notifications');
    await message.waitFor({ timeout: 2_000 }).catch(() => {});
  }
  await window.pictures('service-down');
}
