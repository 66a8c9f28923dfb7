// Runs every measurement of this folder, or those whose names are given, one after the other: two at once would
// disturb each other. Prints a table of which ran. A file that exports something is a helper, not a measurement.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

const SELF = basename(import.meta.filename);
const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== SELF)
  .filter((file) => !/^export /m.test(readFileSync(join(import.meta.dirname, file), 'utf8')))
  .map((file) => basename(file, '.ts'))
  .sort();
const names = process.argv.length > 2 ? process.argv.slice(2) : known;
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`There is no ${unknown.join(', ')} in bench/; there is: ${known.join(', ')}\n`);
  process.exit(2);
}

const rows = names.map((name) => {
  process.stdout.write(`\n== ${name}\n`);
  const started = performance.now();
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: 'inherit' });
  return { name, seconds: (performance.now() - started) / 1000, isGood: status === 0 };
});

process.stdout.write('\n');
for (const { name, seconds, isGood } of rows) {
  process.stdout.write(`${name.padEnd(16)} ${seconds.toFixed(1).padStart(8)} s  ${isGood ? 'ok' : 'FAILED'}\n`);
}
process.exitCode = rows.every(({ isGood }) => isGood) ? 0 : 1;
