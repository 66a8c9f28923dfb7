// Makes the moving pictures of the walkthrough from a real window, in media/walkthrough or where `--to FOLDER` says. The scenes follow each
// other, since the results of the first job are what the second one shows.
import { cp, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { formatBytes } from '../src/core/text/format.ts';
import { Scratch } from '../test/service/commandLine.ts';
import { build } from './build.ts';
import { packExtension } from './package.ts';
import { PICTURE_SETTINGS } from './picture.ts';
import { temporaryExamples } from './trackedFiles.ts';
import { openWindow } from './vscode/window.ts';
import { startAccountService } from './walkthrough/accountService.ts';
import { animatedDrawing } from './walkthrough/animatedDrawing.ts';
import { readShapes } from './walkthrough/recorder.ts';
import * as scenes from './walkthrough/scenes.ts';
import type { Shape } from './walkthrough/shape.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SIZE = { width: 560, height: 440 };
const SIDE_BAR_WIDTH = 220;
const SETTLE_MS = 700; // animations of the last click
const SCENES = {
  example: scenes.runExample,
  submit: scenes.bringResultsHome,
  flow: scenes.runFlow,
  connect: scenes.connect,
};
const SETTINGS = {
  ...PICTURE_SETTINGS,
  'workbench.colorTheme': 'Dark 2026', // the one whose colours have the most different values
  'workbench.activityBar.location': 'hidden',
  '[Log]': { 'editor.wordWrap': 'off' },
};
const { values: flags } = parseArgs({
  options: { to: { type: 'string', default: join(ROOT, 'media', 'walkthrough') } },
});

build();
await packExtension();
await using scratch = await Scratch.create();
const service = await startAccountService(scratch);
await using window = await openWindow({
  name: 'farwharf-sample',
  settings: SETTINGS,
  prepare: (folder) => cp(join(temporaryExamples(), 'quickstart'), folder, { recursive: true }),
});
const { page } = window;
await page.setViewportSize(SIZE);
await narrowSideBar();
for (const [name, play] of Object.entries(SCENES)) {
  const frames: (readonly Shape[])[] = [];
  const keep = async (): Promise<void> => {
    await page.mouse.move(SIZE.width - 1, 1); // a hover would be in the way
    await page.waitForTimeout(SETTLE_MS);
    frames.push(await readShapes(page));
  };
  await play({ page, service, keep });
  const drawing = animatedDrawing(frames, SIZE);
  const path = join(flags.to, `${name}.svg`);
  await writeFile(path, drawing);
  process.stdout.write(`${path}: ${frames.length} frames, ${formatBytes(gzipSync(drawing).length)} compressed\n`);
}

async function narrowSideBar(): Promise<void> {
  const box = await page.locator('.part.sidebar').boundingBox();
  if (box === null) return;
  await page.mouse.move(box.x + box.width, SIZE.height / 2);
  await page.mouse.down();
  await page.mouse.move(SIDE_BAR_WIDTH, SIZE.height / 2, { steps: 5 });
  await page.mouse.up();
}
