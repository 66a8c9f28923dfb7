import { extname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { shellWord } from '../../core/text/shellWord.ts';
import { isBatchScriptName, kindOfFile } from '../../workspace/scripts/scriptKinds.ts';
import { scriptPath } from './script.ts';
import type { SelectedFile } from '../../workspace/select/selection.ts';

// Declarations and tests can be run, but are rarely what the user wants.
const UNLIKELY = /(^|\/)(test_[^/]*|[^/]*(\.test|\.spec|_test|\.d))\.\w+$|(^|\/)(tests?|node_modules)\//;
const LIKELY_NAMES = ['main', 'train', 'run', 'app', 'index', 'start'];
const MAX_RECENT = 10;

/** Whether a file can be the script of a job: by its name, or because it is executable. */
function isScript(path: string, mode: number): boolean {
  return kindOfFile(path) !== undefined || isBatchScriptName(path) || ((mode & 0o111) !== 0 && extname(path) === '');
}

/**
 * Command lines to offer, best first: recent ones whose file is still sent, then the scripts in the folder, those near its root or with
 * a typical name first.
 */
export function suggestScripts(
  files: readonly SelectedFile[],
  recent: readonly string[],
): { recent: string[]; found: string[] } {
  const paths = new Set(files.map(({ path }) => path));
  const recentScripts = recent.filter((line) => paths.has(scriptPath(line)));
  const found = files
    .filter(({ path, mode }) => isScript(path, mode) && !recentScripts.includes(path))
    .map(({ path }) => path)
    .sort((a, b) => unlikeliness(a) - unlikeliness(b) || (a < b ? -1 : 1));
  return { recent: recentScripts, found };
}

function unlikeliness(path: string): number {
  const depth = path.split('/').length - 1;
  const name = path.slice(path.lastIndexOf('/') + 1, -extname(path).length || undefined);
  const likely = LIKELY_NAMES.indexOf(name);
  return (UNLIKELY.test(path) ? 1000 : 0) + depth * 20 + (likely === -1 ? LIKELY_NAMES.length : likely);
}

/** A path for a command line, quoted if it contains spaces, quotes or backslashes. */
export function quotePath(path: string): string {
  if (/["\\]/.test(path)) return shellWord(path);
  return /[\s']/.test(path) ? `"${path}"` : path;
}

/** The recent script lines or commands, with this one first. */
export function remember<Started extends string | readonly string[]>(
  recent: readonly Started[],
  started: Started,
): readonly Started[] {
  return [started, ...recent.filter((other) => !isDeepStrictEqual(other, started))].slice(0, MAX_RECENT);
}
