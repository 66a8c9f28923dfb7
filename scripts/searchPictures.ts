import { cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { startModelServer } from '../test/host/support/modelServer.ts';
import { PICTURE_SETTINGS, takePicture } from './picture.ts';
import { openWindow } from './vscode/window.ts';
import { choose, runCommand } from './vscode/workbench.ts';

const SOURCE = resolve(import.meta.dirname, '..', 'src');
const QUESTION = 'What prevents two windows from writing the same index?';
// No model runs where pictures are taken: a server of this machine says this, about excerpts that are really sent.
const ANSWER = [
  'One process writes an index, and every other one reads it.',
  '',
  '- Opening a store tries to take the lock; the second process continues without it (src/retrieval/index/indexStore.ts:LINES).',
  '- The lock belongs to the process, so it is free again when the process ends, however it ends (src/retrieval/index/writerLock.ts:LINES).',
  '- A window without the lock keeps what it reads in memory, and takes over when the other one closes [1].',
].join('\n');

/** Searches this project's own source and asks about it, with a picture of each step. */
export async function takeSearchPictures(kind: string, theme: string): Promise<void> {
  await using model = await startModelServer();
  model.behaviour = { type: 'answer', say: (prompt) => withLines(ANSWER, prompt) };
  await using window = await openWindow({
    name: 'farwharf',
    settings: { ...PICTURE_SETTINGS, 'workbench.colorTheme': theme },
    prepare: (folder) => cp(SOURCE, join(folder, 'src'), { recursive: true }),
  });
  const { page } = window;
  const title = (text: string) => page.locator('.quick-input-title', { hasText: text }).first();
  await page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
  await page.locator('.pane-header', { hasText: 'Index' }).click();
  await page.locator('.pane', { hasText: 'Index' }).locator('.monaco-list-row', { hasText: 'Up to date' }).waitFor();

  await runCommand(page, 'Farwharf: Search Folder');
  await title('Search Folder').waitFor();
  await page.keyboard.type('writer lock of an index');
  await page.locator('.part.editor .view-line', { hasText: 'ock' }).first().waitFor();
  await takePicture(page, `search-${kind}`);
  await page.keyboard.press('Control+Enter');
  await title('Ask Folder').waitFor();
  await page.keyboard.press('Control+A');
  await page.keyboard.type(QUESTION);
  await page.keyboard.press('Enter');
  await title('Select a model').waitFor();
  await page.keyboard.type('Another URL'); // the list is longer than what is drawn
  await choose(page, 'Another URL');
  await page.locator('.quick-input-message', { hasText: 'Enter the URL of' }).waitFor();
  await page.keyboard.type(model.baseUrl);
  await page.keyboard.press('Enter');
  await choose(page, 'stub-1');
  await title('Ask stub-1').waitFor();
  await takePicture(page, `ask-${kind}`);
  await page.keyboard.press('Enter');
  await page.locator('.codelens-decoration a', { hasText: 'Ask Follow-Up' }).waitFor();
  await page.locator('.part.editor .detected-link').first().waitFor();
  await takePicture(page, `answer-${kind}`);
}

/** The answer with the lines of the excerpts that were sent. */
function withLines(answer: string, prompt: string): string {
  return answer.replaceAll(/(\S+):LINES/g, (_, path: string) => {
    const header = prompt.split('\n').find((line) => line.includes(`] ${path.replace('(', '')}:`));
    const lines = header?.slice(header.lastIndexOf(':') + 1) ?? '1';
    return `${path}:${lines}`;
  });
}
