// Checks the files that git tracks, in a copy: what else lies in the folder is nobody's fault, and neither is an example that somebody has
// edited. `git add` makes a new file, or a change of an example, part of the project.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { copyTracked, trackedFiles } from './trackedFiles.ts';

const ROOT = resolve(import.meta.dirname, '..');
const CHECKS = [
  'biome format .',
  'oxlint --type-aware',
  'tsc -p tsconfig.json',
  'tsc -p src/webview/tsconfig.json',
  'tsc -p scripts/walkthrough/page/tsconfig.json',
  'tsc -p src/retrieval/kernel/assembly/tsconfig.json',
  'knip',
  'jscpd',
  'node --test test/unit/architecture.test.ts test/unit/retiredWords.test.ts test/unit/scripts/testing/knownFailures.test.ts',
];

// Folders in which a file that git does not track may have been forgotten.
const SOURCES = ['src', 'test', 'scripts', 'bench'];

const copy = realpathSync(mkdtempSync(join(tmpdir(), 'farwharf-check-')));
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
copyTracked(trackedFiles(), copy);
const untracked = spawnSync('git', ['ls-files', '--others', '--exclude-standard', ...SOURCES], {
  cwd: ROOT,
  encoding: 'utf8',
});
if (untracked.status === 0 && untracked.stdout !== '')
  process.stderr.write(`Not checked, because git does not track these files:\n${untracked.stdout}\n`);
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction');
const env = { ...process.env, PATH: [join(ROOT, 'node_modules', '.bin'), process.env['PATH']].join(delimiter) };
for (const command of CHECKS) {
  const { status } = spawnSync(command, { cwd: copy, env, shell: true, stdio: 'inherit' });
  if (status === 0) continue;
  process.stderr.write(`\nThis check failed: ${command}\n`);
  process.exit(1);
}
