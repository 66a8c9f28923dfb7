// Runs `npm run check:tracked` in a copy of the files that git tracks: what else lies in the folder is nobody's fault, and neither is an example
// that somebody has edited. `git add` makes a new file, or a change of an example, part of the project.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { copyTracked, trackedFiles } from './trackedFiles.ts';

const ROOT = resolve(import.meta.dirname, '..');
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
const { status } = spawnSync('npm', ['run', '--silent', 'check:tracked'], {
  cwd: copy,
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
process.exitCode = status ?? 1;
