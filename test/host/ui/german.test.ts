import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, suite, test } from 'node:test';
import { openWindow, type Window } from '../../../scripts/vscode/window.ts';
import { choose, closeAllEditors, openFile, runCommand, webviewOf } from '../../../scripts/vscode/workbench.ts';
import { screenshotOfFailure } from '../support/failure.ts';

const FLOW = `import { Flow, Node } from 'farwharf/agents';
class Greet extends Node {
  exec() {
    return 'hello';
  }
}
export const greet = new Flow({ start: new Greet() });
`;

suite('a window in German', () => {
  let window: Window;

  before(async () => {
    window = await openWindow({
      name: 'probe',
      prepare: async (folder) => {
        await mkdir(folder);
        await writeFile(join(folder, 'train.mjs'), "console.log('trained', readFileSync('data.csv'));\n");
        await writeFile(join(folder, 'data.csv'), '1,2\n');
        await writeFile(join(folder, '.farwharfignore'), 'data.csv\n');
        await writeFile(join(folder, 'weights.bin'), new Uint8Array(25_500_000));
        await writeFile(join(folder, 'greet.mts'), FLOW);
      },
      // A language pack is no part of VS Code. The workbench derives its language, by which it chooses the texts of extensions,
      // from this value, which the script with a pack's texts would set.
      beforeLoad: async (page) => {
        await page.addInitScript(() => {
          Object.defineProperty(globalThis, '_VSCODE_NLS_LANGUAGE', { get: () => 'de', set: () => {} });
        });
      },
    });
  });
  after(async () => window[Symbol.asyncDispose]());
  afterEach((t) => screenshotOfFailure(window.page, t));

  test('commands and the empty Jobs view are in German', async () => {
    await runCommand(window.page, 'Farwharf: Letzte Suchvorgänge löschen');
    await window.page.locator('.activitybar .action-label[aria-label="Farwharf"]').click();
    const view = window.page.locator('.part.sidebar .welcome-view', {
      hasText: 'Führen Sie diesen Ordner als Job aus.',
    });
    await view.getByRole('button', { name: 'Arbeitsbereich abschicken' }).waitFor();
  });

  test('what a submit would send is in German', async () => {
    const { page } = window;
    const list = page.locator('.quick-input-widget');
    await runCommand(page, 'Farwharf: Arbeitsbereich abschicken');
    await list.getByPlaceholder('Wählen Sie ein Skript aus').waitFor();
    await choose(page, 'train.mjs');
    await list.getByText('probe auf diesem Rechner abschicken').waitFor();
    await list.getByText('4 Dateien (').first().waitFor();
    await list.getByText('weights.bin hat 25,5 MB. Schließen Sie die Datei aus').waitFor();
    await list.getByText('train.mjs liest vielleicht data.csv, aber die Datei ist ausgeschlossen').waitFor();
    await list.getByText('Grund: durch .farwharfignore ignoriert').waitFor();
    await page.keyboard.press('PageDown'); // the list shows what fits
    await list.getByText('Ausgeschlossen').first().waitFor();
    await page.keyboard.press('Escape');
  });

  test('the canvas is in German, and so is what it says about the node', async () => {
    const { page } = window;
    await openFile(page, 'greet.mts');
    await page.locator('.editor-actions a[aria-label^="Canvas öffnen"]').first().click();
    const canvas = webviewOf(page);
    await canvas.locator('html[lang="de"] .node').first().click();
    await canvas.getByRole('button', { name: 'Mehr …' }).click();
    await canvas.getByRole('menuitem', { name: 'Alles anzeigen' }).click();
    await canvas.locator('.node .start', { hasText: 'Start' }).waitFor();
    await canvas
      .locator('.outline [role=treeitem]', { hasText: /^Greet, Start, Knoten$/ })
      .waitFor({ state: 'attached' });
    await canvas.locator('.surface').focus();
    await page.keyboard.press('?');
    await canvas.getByRole('dialog', { name: 'Tasten' }).getByText('Nur diesen Knoten erneut ausführen').waitFor();
    await page.keyboard.press('Escape');
    await closeAllEditors(page);
  });

  test('a walkthrough shows its German steps and pages', async () => {
    const { page } = window;
    // Beside the side bar, there is no space for the pages of the steps.
    await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
    await runCommand(page, 'Welcome: Open Walkthrough');
    await choose(page, 'Einen Ordner durchsuchen');
    await page.getByText('Finden Sie Code nach Stichwort oder Thema.').waitFor();
    const text = 'mit einem Index, der auf diesem Rechner erstellt wird und hier bleibt';
    await page.frameLocator('iframe.webview.ready').frameLocator('iframe').getByText(text).waitFor();
  });
});
