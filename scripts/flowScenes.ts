// Takes pictures of what one does with flows in a real window, in light and in dark, for people to look at. `--to FOLDER` says where;
// `--theme light` or `--theme dark` takes those alone, and `--only NAME` one scene.
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import * as scenes from './flowPictures.ts';
import { packExtension } from './package.ts';

const { values: flags } = parseArgs({
  options: { to: { type: 'string', default: 'out/pictures' }, theme: { type: 'string' }, only: { type: 'string' } },
});
const THEMES = { light: 'Light 2026', dark: 'Dark 2026' };
const SCENES = {
  waiting: scenes.takeWaitingFlow,
  node: scenes.takeNodeRunAgain,
  versions: scenes.takeFlowVersions,
  large: scenes.takeLargeFlow,
  trace: scenes.takeTrace,
};

build();
await packExtension();
await mkdir(resolve(flags.to), { recursive: true });
for (const [kind, theme] of Object.entries(THEMES)) {
  if (flags.theme !== undefined && flags.theme !== kind) continue;
  for (const [name, take] of Object.entries(SCENES)) {
    if (flags.only !== undefined && flags.only !== name) continue;
    let count = 0;
    await take(theme, async (page) => {
      count += 1;
      const path = join(resolve(flags.to), `${name}${count === 1 ? '' : `-${count}`}-${kind}.png`);
      await page.waitForTimeout(800); // animations and hovers of the last click
      await page.screenshot({ path });
      process.stdout.write(`${path}\n`);
    });
  }
}
