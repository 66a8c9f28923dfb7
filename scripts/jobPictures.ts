// Walks through a day with jobs in a real window and takes a picture of each state, in light and in dark, with a side bar of 200 px and
// at a zoom of 200 %, for people to look at. `--to FOLDER` says where; `--theme light` or `--theme dark` takes those alone, and
// `--skip NAME,NAME` leaves scenes out.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { JobWindow } from './jobPictures/jobWindow.ts';
import * as scenes from './jobPictures/scenes.ts';
import { packExtension } from './package.ts';
import { runCommand } from './vscode/workbench.ts';

const { values: flags } = parseArgs({
  options: {
    to: { type: 'string', default: 'out/pictures' },
    theme: { type: 'string' },
    skip: { type: 'string', default: '' },
  },
});
const THEMES = { light: 'Light 2026', dark: 'Dark 2026' };
/** In the order of a day. Those after `training` look at its job. */
const SCENES = {
  empty: scenes.takeEmptyWindow,
  connect: scenes.connect,
  preflight: scenes.takePreflight,
  training: scenes.takeTraining,
  key: scenes.takeRevokedKey,
  results: scenes.takeResults,
  failure: scenes.takeFailure,
  task: scenes.takeTask,
  sweep: scenes.takeSweep,
  down: scenes.takeServiceDown,
};

build();
await packExtension();
for (const [kind, theme] of Object.entries(THEMES)) {
  if (flags.theme !== undefined && flags.theme !== kind) continue;
  await using window = await JobWindow.open({ kind, theme, to: resolve(flags.to) });
  for (const [name, take] of Object.entries(SCENES)) {
    if (flags.skip.split(',').includes(name)) continue;
    try {
      await take(window);
    } catch (error) {
      await runCommand(window.page, 'Notifications: Show Notifications');
      await window.picture(`${name}-stopped-here`);
      throw error;
    }
  }
}
