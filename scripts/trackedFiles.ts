// What belongs to the project in a folder that may contain anything else: results of the sample, notes, a key.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
/** In a source archive, the list of its files, which the release adds. */
export const FILE_LIST = 'FILES';
const BUILT = new Set(['.git', '.vscode-test', 'dist', 'node_modules', 'out', FILE_LIST]);
const MAX_LIST_BYTES = 1 << 26;

/**
 * Returns the files of the project as sorted paths relative to its folder, with `/`: those that git tracks; without git those that the
 * release recorded; and where neither is there, all that are not built.
 *
 * @param patterns of paths, as `glob` has them; without, all files. `folder/**` contains files whose names begin with a dot.
 * @param root another checkout than this one.
 */
export function trackedFiles(patterns?: readonly string[], root = ROOT): readonly string[] {
  const listed = filesOfGit(root) ?? recordedFiles(root);
  const files = listed?.filter((path) => existsSync(join(root, path))) ?? filesBelow(root, '');
  if (patterns === undefined) return files.toSorted();
  const folders = patterns.filter((pattern) => pattern.endsWith('/**')).map((pattern) => pattern.slice(0, -2));
  const others = patterns.filter((pattern) => !pattern.endsWith('/**'));
  const exclude = (path: string): boolean => BUILT.has(basename(path));
  const matching = new Set(globSync(others, { cwd: root, exclude }).map((path) => path.replaceAll('\\', '/')));
  return files.filter((path) => matching.has(path) || folders.some((folder) => path.startsWith(folder))).toSorted();
}

/** Undefined where the folder is no checkout of its own, although it may lie in one of something else. */
function filesOfGit(root: string): readonly string[] | undefined {
  if (!existsSync(join(root, '.git'))) return undefined;
  const options = { cwd: root, encoding: 'utf8', maxBuffer: MAX_LIST_BYTES } as const;
  const { status, stdout } = spawnSync('git', ['ls-files', '-z', '--deduplicate'], options);
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : undefined;
}

function recordedFiles(root: string): readonly string[] | undefined {
  const list = join(root, FILE_LIST);
  if (!existsSync(list)) return undefined;
  return readFileSync(list, 'utf8')
    .split('\n')
    .filter((path) => path !== '');
}

function filesBelow(root: string, folder: string): readonly string[] {
  const names = readdirSync(join(root, folder)).filter((name) => !BUILT.has(name) && !name.endsWith('.vsix'));
  return names.flatMap((name) => {
    const path = folder === '' ? name : `${folder}/${name}`;
    const entry = statSync(join(root, path), { throwIfNoEntry: false });
    if (entry?.isDirectory() === true) return filesBelow(root, path);
    return entry?.isFile() === true ? [path] : [];
  });
}

/**
 * Copies files of the project to the same paths below `to`. Examples are copied as git has them, which `git add` changes: people may try
 * their own versions of what the project relies on.
 */
export function copyTracked(paths: readonly string[], to: string, root = ROOT): void {
  const examples = paths.filter((path) => path.startsWith('examples/'));
  const areFromGit = examples.length > 0 && filesOfGit(root) !== undefined;
  for (const path of paths.filter((one) => !areFromGit || !examples.includes(one))) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(root, path), join(to, path));
  }
  if (!areFromGit) return;
  const args = ['checkout-index', '--force', `--prefix=${to}/`, '-z', '--stdin'];
  execFileSync('git', args, { cwd: root, input: examples.map((path) => `${path}\0`).join('') });
}

/** Returns the path of a folder with `examples/` as git has it, which is removed when the process ends. */
export function temporaryExamples(): string {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-examples-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  copyTracked(trackedFiles(['examples/**']), folder);
  return join(folder, 'examples');
}
