import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { Scratch } from '../../test/service/commandLine.ts';
import { openWindow } from '../vscode/window.ts';
import { choose, pressOnRow, runCommand, showNotification, webviewOf } from '../vscode/workbench.ts';
import { startAccountService } from './accountService.ts';

const SIZE = { width: 1500, height: 900 };
const SETTLE_MS = 900; // animations and hovers of the last click
const PICTURE_SECONDS = 6; // until a moving picture has stopped
/** The folder of the user, with a script that makes a file. */
const OWN = { folder: 'my-project', script: 'count.mjs', result: 'counts.txt' };

/** Seconds from the click that starts it to what the user wanted. */
export type Times = Readonly<Record<'first results' | 'first flow', number>>;

/** Does what the walkthrough says, from an empty window on, as a new user does with the mouse. */
export async function walkFirstHour(theme: string, pathOf: (name: string) => string): Promise<Times> {
  await using scratch = await Scratch.create();
  const service = await startAccountService(scratch);
  await using window = await openWindow({
    name: undefined,
    asksForTrust: true,
    settings: {
      'workbench.colorTheme': theme,
      'security.workspace.trust.enabled': true,
      'files.simpleDialog.enable': true,
    },
    prepare: async (home) => {
      const folder = join(home, OWN.folder);
      await mkdir(folder, { recursive: true });
      const lines = ["import { writeFileSync } from 'node:fs';", `writeFileSync('${OWN.result}', '1 2 3');`, ''];
      await writeFile(join(folder, OWN.script), lines.join('\n'));
    },
  });
  const tour = new Tour(window.page, pathOf);
  await window.page.setViewportSize(SIZE);
  try {
    return await walk(tour, service);
  } catch (error) {
    await tour.picture('stopped-here');
    throw error;
  }
}

async function walk(tour: Tour, { url, key }: { readonly url: string; readonly key: string }): Promise<Times> {
  await tour.begin();
  const results = await seconds(() => tour.runExample());
  await tour.showsDone('example');
  await tour.submitOwnFolder();
  await tour.showsDone('example', 'submit');
  const flow = await seconds(() => tour.runFlow());
  await tour.showsDone('example', 'submit', 'flow');
  await tour.connect(url, key);
  await tour.showsDone('example', 'submit', 'flow', 'connect');
  return { 'first results': results, 'first flow': flow };
}

async function seconds(act: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await act();
  return (performance.now() - started) / 1000;
}

/** The steps of the walkthrough in a window. */
class Tour {
  readonly #page: Page;
  readonly #pathOf: (name: string) => string;
  #pictures = 0;

  constructor(page: Page, pathOf: (name: string) => string) {
    this.#page = page;
    this.#pathOf = pathOf;
  }

  async begin(): Promise<void> {
    const page = this.#page;
    await page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
    await page.locator('.welcome-view').getByText('Take the tour').waitFor();
    await this.picture('empty-window');
    await page.locator('.welcome-view').getByText('Take the tour').click();
    await this.#step('example').waitFor();
    await this.picture('example-moving');
    await this.#still('example');
    for (const step of ['submit', 'flow', 'connect']) {
      await this.#open(step);
      await this.picture(`${step}-moving`);
      await this.#still(step);
    }
    await this.#open('example');
  }

  async runExample(): Promise<void> {
    const page = this.#page;
    await this.#press('Create Sample Folder');
    const dialog = page.locator('.quick-input-widget');
    await dialog.getByRole('button', { name: 'Create Here' }).waitFor();
    await dialog.locator('.monaco-list-row').first().waitFor();
    await dialog.getByRole('button', { name: 'Create Here' }).click();
    await page.locator('.welcome-view', { hasText: 'In Restricted Mode' }).waitFor();
    await this.#step('example').waitFor();
    await this.picture('sample-restricted');
    await this.#submitTrusted('train.mjs');
    await page.locator('.part.panel .view-line').first().waitFor();
    await this.#download('train.mjs', 'loss.png');
    await webviewOf(page).locator('img').waitFor();
  }

  async submitOwnFolder(): Promise<void> {
    const page = this.#page;
    await this.#open('submit');
    await this.#press('Open Folder');
    const dialog = page.locator('.quick-input-widget', { hasText: 'Open Folder' });
    const path = dialog.locator('input.input');
    await dialog.locator('.monaco-list-row').first().waitFor();
    const home = (await path.inputValue()).replace(/farwharf-sample\/?$/, '');
    await path.fill(`${home}${OWN.folder}/`);
    await dialog.getByRole('button', { name: 'Open Folder' }).click();
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: OWN.script }).waitFor();
    await this.#step('submit').waitFor();
    await this.picture('own-folder');
    await this.#submitTrusted(OWN.script);
    await this.#download(OWN.script, OWN.result);
  }

  async runFlow(): Promise<void> {
    const page = this.#page;
    await this.#open('flow');
    await this.#press('New Flow');
    await choose(page, 'Research Agent');
    await page.locator('.quick-input-widget').getByRole('button', { name: 'OK' }).waitFor();
    await page.keyboard.press('Enter'); // the name that is offered
    const canvas = webviewOf(page);
    await canvas.locator('.node').first().waitFor();
    await canvas.getByRole('button', { name: 'Run', exact: true }).first().click();
    await canvas.locator('.timeline .summary', { hasText: 'Done' }).waitFor();
  }

  async connect(url: string, key: string): Promise<void> {
    const page = this.#page;
    await this.#open('connect');
    await this.#press('Select Host');
    await choose(page, 'Connect a Service');
    await this.#answer('Connect a service', url);
    await this.#answer('Sign in to', key);
    await page.locator('.statusbar-item', { hasText: '312 cr' }).waitFor();
  }

  /** Takes a picture of what was done, and one of the walkthrough, once it shows that these steps are done. */
  async showsDone(...steps: string[]): Promise<void> {
    await this.picture(`${steps.at(-1)}-done`);
    await runCommand(this.#page, 'View: Show Farwharf');
    await this.#showTour();
    for (const step of steps) await this.#page.locator(`[data-done-step-id$="${step}"].complete`).first().waitFor();
    await this.picture(`tour-after-${steps.at(-1)}`);
  }

  async #showTour(): Promise<void> {
    await runCommand(this.#page, 'Welcome: Open Walkthrough...');
    await choose(this.#page, 'First hour with Farwharf');
    await this.#step('example').waitFor();
  }

  #step(name: string): Locator {
    return this.#page.locator(`.getting-started-step[data-step-id$="#${name}"]`);
  }

  async #open(name: string): Promise<void> {
    if (!(await this.#step(name).isVisible())) await this.#showTour();
    await this.#step(name).locator('.step-title').click();
  }

  async #press(button: string): Promise<void> {
    await this.#page.locator('.getting-started-step.expanded').getByRole('button', { name: button }).click();
  }

  async #answer(question: string, text: string): Promise<void> {
    await this.#page.locator('.quick-input-widget', { hasText: question }).waitFor();
    await this.#page.locator('.quick-input-widget input.input').fill(text);
    await this.#page.keyboard.press('Enter');
  }

  async #still(step: string): Promise<void> {
    await this.#page.waitForTimeout(PICTURE_SECONDS * 1000);
    await this.picture(`${step}-still`);
  }

  /** Submits the folder from the walkthrough, which asks for trust first. */
  async #submitTrusted(script: string): Promise<void> {
    const page = this.#page;
    await this.#press('Submit Workspace');
    const message = await showNotification(page, 'In Restricted Mode');
    await message.getByRole('button', { name: 'Manage Workspace Trust' }).click();
    await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).first().click();
    await page.locator('.statusbar-item', { hasText: 'Restricted Mode' }).waitFor({ state: 'detached' });
    await page.locator('.monaco-modal-editor-block').getByRole('button', { name: 'Close' }).last().click();
    await page.locator('.tabs-container .tab', { hasText: 'Welcome' }).click();
    await this.#press('Submit Workspace');
    await choose(page, script);
    await page.locator('.quick-input-widget').getByText('will be sent').first().waitFor();
    await page.keyboard.press('Enter');
  }

  async #download(script: string, result: string): Promise<void> {
    const page = this.#page;
    await runCommand(page, 'View: Show Farwharf');
    const row = page.locator('.part.sidebar .monaco-list-row', { hasText: script });
    await pressOnRow(page, row.filter({ hasText: 'succeeded' }).first(), 'Download Results');
    await page.locator('.explorer-folders-view .monaco-list-row', { hasText: result }).waitFor();
  }

  /** A picture of the window as it is. */
  async picture(name: string): Promise<void> {
    this.#pictures += 1;
    const path = this.#pathOf(`${String(this.#pictures).padStart(2, '0')}-${name}`);
    await this.#page.waitForTimeout(SETTLE_MS);
    await this.#page.screenshot({ path });
    process.stdout.write(`${path}\n`);
  }
}
