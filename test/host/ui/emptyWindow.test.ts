import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { runCommand, showNotification } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

/** The part of SVGSVGElement that controls its animations. */
interface Animated {
  pauseAnimations(): void;
  setCurrentTime(seconds: number): void;
}

suite('a window without a folder', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: undefined,
      settings: { 'files.simpleDialog.enable': true },
      // Beside the side bar, the steps of the walkthrough otherwise have no space for their pictures.
      size: { width: 1500, height: 900 },
      prepare: (home) => mkdir(home),
    });
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  test('each link of the Jobs view leads somewhere', async () => {
    const { page } = window;
    const list = page.locator('.quick-input-widget');
    const view = page.locator('.part.sidebar .welcome-view', { hasText: 'Run a folder as a job' });
    await runCommand(page, 'View: Show Farwharf');
    for (const [link, shown] of [
      ['Create Sample Folder', 'Create Sample Folder'],
      ['Select Host', 'Where jobs run'],
      ['Open Folder', 'Open Folder'],
    ] as const) {
      await view.getByText(link, { exact: true }).click();
      await list.filter({ hasText: shown }).waitFor();
      await page.keyboard.press('Escape');
      await list.waitFor({ state: 'hidden' });
    }
    await runCommand(page, 'Help: Welcome'); // new users have this page, which takes the place of the walkthrough
    await page.locator('.gettingStartedContainer').waitFor();
    await view.getByText('Take the tour').click();
    await page.locator('.getting-started-step.expanded', { hasText: 'Run the example' }).waitFor();
  });

  test('a step that needs a folder says so, and offers to open one', async () => {
    const { page } = window;
    const press = (step: string, button: string): Promise<void> =>
      page.locator(`.getting-started-step[data-step-id$="#${step}"]`).getByRole('button', { name: button }).click();
    const folderIsAskedFor = async (message: string): Promise<void> => {
      const notification = await showNotification(page, message);
      assert.equal(await notification.getByRole('button', { name: 'Open Folder' }).count(), 1);
      await runCommand(page, 'Notifications: Clear All Notifications');
    };
    await press('example', 'Submit Workspace');
    await folderIsAskedFor('No folder is open');
    await page.locator('.getting-started-step[data-step-id$="#flow"] .step-title').click();
    await press('flow', 'New Flow');
    await folderIsAskedFor('A new flow is a file in a folder');
  });

  test('the walkthrough shows a moving picture, which stands still in the end', async () => {
    const { page } = window;
    await page.locator('.getting-started-step[data-step-id$="#example"] .step-title').click();
    const picture = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame').locator('svg');
    await picture
      .getByText(/succeeded\safter/)
      .first()
      .waitFor({ state: 'visible' });
    // Back to the first scene, of one second, which a busy machine may not have shown.
    await picture.first().evaluate((svg: Animated) => {
      svg.pauseAnimations();
      svg.setCurrentTime(1);
    });
    await picture.getByText('Submit Workspace').first().waitFor({ state: 'visible' });
  });
});
