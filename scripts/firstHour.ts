// Walks through the first hour of a new user in a real window: the extension from its VSIX, an empty profile, each step of the walkthrough.
// Takes pictures in light and in dark, and prints how long the first results and the first flow took. `--to FOLDER` says where to;
// `--theme light` or `--theme dark` takes those alone.
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { walkFirstHour } from './walkthrough/firstHour.ts';
import { packExtension } from './package.ts';

const { values: flags } = parseArgs({
  options: { to: { type: 'string', default: 'out/pictures' }, theme: { type: 'string' } },
});
const THEMES = { light: 'Light 2026', dark: 'Dark 2026' };
const MOST_SECONDS = 60;

build();
await packExtension();
await mkdir(resolve(flags.to), { recursive: true });
for (const [kind, theme] of Object.entries(THEMES)) {
  if (flags.theme !== undefined && flags.theme !== kind) continue;
  const times = await walkFirstHour(theme, (name) => resolve(flags.to, `${kind}-first-hour-${name}.png`));
  for (const [what, seconds] of Object.entries(times)) {
    process.stdout.write(`${kind}: ${what} after ${seconds.toFixed(1)} s\n`);
    if (seconds > MOST_SECONDS) process.exitCode = 1;
  }
}
