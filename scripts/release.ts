// Builds what is published, from the last commit: the extension for both marketplaces, the npm package, the sources, the bill of materials,
// single executables and Python wheels for five platforms, and the checksums of all. The same commit gives the same bytes on each machine.
// `--to FOLDER` says where, by default `out/release`;
// `--draft` builds one that is not published, so package.json need not say where the project is found.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { requireAddresses } from './release/addresses.ts';
import { buildRelease } from './release/buildRelease.ts';

const { values: flags } = parseArgs({
  options: { to: { type: 'string', default: 'out/release' }, draft: { type: 'boolean', default: false } },
});
if (!flags.draft) {
  const manifest = readFileSync(join(import.meta.dirname, '../package.json'), 'utf8');
  requireAddresses(JSON.parse(manifest) as Record<string, unknown>);
}
process.stdout.write(await buildRelease(resolve(flags.to)));
