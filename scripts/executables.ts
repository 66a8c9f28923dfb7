// Writes what is built in `dist/` as single executables that need no Node.js, and as Python wheels that contain them. `--to FOLDER` says where, by
// default `out/executables`; `--only PLATFORM` writes those of one, such as linux-x64.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PLATFORMS } from './release/nodeBinaries.ts';
import { writeExecutable } from './release/writeExecutable.ts';
import { writeWheel } from './release/writeWheel.ts';

const { values: flags } = parseArgs({
  options: { to: { type: 'string', default: 'out/executables' }, only: { type: 'string' } },
});
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const platforms = PLATFORMS.filter(({ name }) => flags.only === undefined || name === flags.only);
if (platforms.length === 0)
  throw new Error(
    `There is no executable for ${flags.only}. Platforms: ${PLATFORMS.map(({ name }) => name).join(', ')}.`,
  );
for (const platform of platforms) {
  const executable = await writeExecutable(platform, resolve(flags.to), log);
  const wheel = await writeWheel(executable, platform);
  process.stdout.write(`${executable}\n${wheel}\n`);
}
