import { extname } from 'node:path';
import { scriptPath } from './script.ts';
import type { SelectedFile } from '../../workspace/select/selection.ts';

const EXTENSIONS = new Set(['.py', '.sh', '.js', '.mjs', '.ts']);
// Declarations and tests can be run, but are never what a person means first.
const UNLIKELY = /(^|\/)(test_[^/]*|[^/]*(\.test|\.spec|_test|\.d))\.\w+$|(^|\/)(tests?|node_modules)\//;
const LIKELY_NAMES = ['main', 'train', 'run', 'app', 'index', 'start'];
const MAX_RECENT = 10;

/** Whether a file can be the script of a job: by its name, or because it may be executed. */
function isScript(path: string, mode: number): boolean {
  return EXTENSIONS.has(extname(path)) || ((mode & 0o111) !== 0 && extname(path) === '');
}

/**
 * Command lines to offer, best first: those used recently whose file is still sent, then the scripts of the folder, those
 * near its root and with a telling name before the others.
 */
export function suggestScripts(
  files: readonly SelectedFile[],
  recent: readonly string[],
): { recent: string[]; found: string[] } {
  const paths = new Set(files.map(({ path }) => path));
  const kept = recent.filter((line) => paths.has(scriptPath(line)));
  const found = files
    .filter(({ path, mode }) => isScript(path, mode) && !kept.includes(path))
    .map(({ path }) => path)
    .sort((a, b) => unlikeliness(a) - unlikeliness(b) || (a < b ? -1 : 1));
  return { recent: kept, found };
}

function unlikeliness(path: string): number {
  const depth = path.split('/').length - 1;
  const name = path.slice(path.lastIndexOf('/') + 1, -extname(path).length || undefined);
  const likely = LIKELY_NAMES.indexOf(name);
  return (UNLIKELY.test(path) ? 1000 : 0) + depth * 20 + (likely === -1 ? LIKELY_NAMES.length : likely);
}

/** A path as it stands in a command line: quoted where a space would split it. */
export function quotePath(path: string): string {
  return /[\s"']/.test(path) ? (path.includes('"') ? `'${path}'` : `"${path}"`) : path;
}

/** The recently used command lines with this one in front. */
export function remember(recent: readonly string[], line: string): string[] {
  return [line, ...recent.filter((other) => other !== line)].slice(0, MAX_RECENT);
}
