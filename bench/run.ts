// Runs every measurement of this folder, or those named in the arguments, one after the other: two at once would
// disturb each other. Prints a table of which ran. A file that exports something is a helper, not a measurement. The packages
// that Farwharf is measured against are installed first, where they are missing or older than their lock file.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
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

if (!hasPeers()) {
  process.stdout.write('Installing what Farwharf is measured against (bench/package.json): npm ci --prefix bench\n');
  const { status } = spawnSync('npm', ['ci', '--prefix', import.meta.dirname], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) {
    process.stderr.write('Nothing was measured: the packages of bench/package.json could not be installed.\n');
    process.exit(1);
  }
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

function hasPeers(): boolean {
  const changedAt = (file: string): number =>
    statSync(join(import.meta.dirname, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json');
}
