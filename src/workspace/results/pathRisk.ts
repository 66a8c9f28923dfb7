import { foldName } from '../files/nameRules.ts';
import { isProtectedPath } from './protectedNames.ts';
import { isToolFile } from './toolFiles.ts';

/**
 * Why a result is never written together with the others: git, the editor or a shell acts on a `protected` name immediately;
 * `selection` changes what the next submit sends; a `hidden` name starts with a dot; a tool reads or runs a `tool` file when its folder
 * is opened.
 */
export type PathRisk = 'protected' | 'selection' | 'hidden' | 'tool';

const SELECTION = new Set(['.farwharfignore', '.gitignore']);
// The short names that Windows creates for long names, including hidden ones.
const SHORT_NAME = /^[^.]{1,6}~\d+(?:\..{0,3})?$/;
// Most paths. They are unambiguous on every file system, so a cheap check is enough.
const PLAIN = /^(?:[\w-](?:[\w.-]*[\w-])?\/)*[\w-](?:[\w.-]*[\w-])?$/;

/** The risk of a path; undefined if there is none. Recognizes every spelling that some file system treats as the same name. */
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
