// Builds what is published, from the last commit: the extension for both marketplaces, the npm package, the bill of materials and the
// checksums of all three. The same commit gives the same bytes on each machine. `--to FOLDER` says where, by default `out/release`.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRelease } from './release/buildRelease.ts';

const { values: flags } = parseArgs({ options: { to: { type: 'string', default: 'out/release' } } });
process.stdout.write(await buildRelease(resolve(flags.to)));
