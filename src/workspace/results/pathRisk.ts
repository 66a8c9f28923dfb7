import { foldName } from '../archive/entryNames.ts';
import { isProtectedPath } from './protectedNames.ts';
import { isToolFile } from './toolFiles.ts';

/**
 * Why a result is never written with the rest: `protected` names git, the editor or a shell act on at once; `selection` changes what
 * is sent next; `hidden` has a name that starts with a dot; `tool` is read or run by a tool when its folder is opened.
 */
export type PathRisk = 'protected' | 'selection' | 'hidden' | 'tool';

const SELECTION = new Set(['.farwharfignore', '.gitignore']);
// Windows gives such second names to long ones, also to hidden ones.
const SHORT_NAME = /^[^.]{1,6}~\d+(?:\..{0,3})?$/;
// Of such paths nothing but the name itself can be meant, on any file system: most paths are so, and cost little then.
const PLAIN = /^(?:[\w-](?:[\w.-]*[\w-])?\/)*[\w-](?:[\w.-]*[\w-])?$/;

/** What must be decided about a path by itself, or undefined for a name like any other. In any spelling that some file system takes for it. */
export function riskOf(path: string): PathRisk | undefined {
  if (PLAIN.test(path)) {
    const name = path.toLowerCase();
    if (name.endsWith('.code-workspace')) return 'protected';
    return isToolFile(name.split('/')) ? 'tool' : undefined;
  }
  if (isProtectedPath(path)) return 'protected';
  const names = path.split('/').map((name) => foldName(name.replace(/:.*$/s, '')));
  const last = names.at(-1) ?? '';
  if (SELECTION.has(last)) return 'selection';
  if (names.some((name) => name.startsWith('.') || SHORT_NAME.test(name))) return 'hidden';
  return isToolFile(names) ? 'tool' : undefined;
}
