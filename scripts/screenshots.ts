// Makes the README's pictures from the real thing, in light and in dark: the quickstart as a job in the real workbench, a
// search of this project, and a flow on its canvas. `--only jobs`, `--only search` or `--only flows` makes those alone.
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { takeFlowPictures } from './flowPictures.ts';
import { packExtension } from './package.ts';
import { PICTURE_SETTINGS, PICTURES, takePicture } from './picture.ts';
import { takeSearchPictures } from './searchPictures.ts';
import { temporaryExamples } from './trackedFiles.ts';
import { openWindow } from './vscode/window.ts';
import { choose, pressOnRow, runCommand } from './vscode/workbench.ts';

const { values: flags } = parseArgs({ options: { only: { type: 'string' } } });
const THEMES = { light: 'Light 2026', dark: 'Dark 2026' };
const SHOWN_LINE = '10 s'; // of the log, half of the training: enough to see that the model learns
const JOB_TIMEOUT_MS = 120_000;

/** Submits the quickstart, watches it and brings its results home, with a picture of each step. */
async function takeJobPictures(kind: string, theme: string): Promise<void> {
  await using window = await openWindow({
    name: 'quickstart',
    settings: { ...PICTURE_SETTINGS, 'workbench.colorTheme': theme },
    prepare: (folder) => cp(join(temporaryExamples(), 'quickstart'), folder, { recursive: true }),
  });
  const { page } = window;
  const file = (name: string) => page.locator('.explorer-folders-view .monaco-list-row', { hasText: name });
  const job = page.locator('.part.sidebar .monaco-list-row', { hasText: 'train.mjs' });

  await file('train.mjs').dblclick();
  await page.locator('.activitybar a[aria-label^="Farwharf"]').first().click();
  await runCommand(page, 'Farwharf: Submit Workspace');
  await choose(page, 'train.mjs');
  await page.locator('.quick-input-widget', { hasText: 'will be sent' }).waitFor();
  await takePicture(page, `preflight-${kind}`);
  await choose(page, 'Submit');
  await page.locator('.part.panel .view-line', { hasText: SHOWN_LINE }).first().waitFor({ timeout: JOB_TIMEOUT_MS });
  await job.filter({ hasText: 'running' }).first().waitFor();
  await takePicture(page, `running-${kind}`);
  await job.filter({ hasText: 'succeeded' }).first().waitFor({ timeout: JOB_TIMEOUT_MS });
  await pressOnRow(page, job.first(), 'Download Results');
  await file('loss.png').waitFor();
  const preview = page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame');
  await preview.locator('img').waitFor();
  await takePicture(page, `results-${kind}`);
}

build();
await packExtension();
await mkdir(PICTURES, { recursive: true });
for (const [kind, theme] of Object.entries(THEMES)) {
  const isWanted = (what: string): boolean => flags.only === undefined || flags.only === what;
  if (isWanted('jobs')) await takeJobPictures(kind, theme);
  if (isWanted('search')) await takeSearchPictures(kind, theme);
  if (isWanted('flows')) await takeFlowPictures(kind, theme);
}
