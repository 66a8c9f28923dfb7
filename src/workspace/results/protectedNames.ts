import { foldName } from '../files/nameRules.ts';

const PROTECTED = new Set('.git .gitmodules .gitattributes .vscode .devcontainer .husky .ssh .envrc'.split(' '));
// The short names that Windows gives to these files, such as `git~1` for `.git`.
const SHORT_NAME = /^(?:git|gitmod|gitatt|vscode|devcon|husky|ssh|env|envrc)~\d$/;

/**
 * Whether git, the editor or a shell acts on a path automatically, in any spelling that some file system treats as the same name: upper
 * case, equivalent Unicode, invisible characters, trailing dots and spaces, streams, short names.
 */
export function isProtectedPath(path: string): boolean {
  const parts = path.split('/').map((part) => foldName(part.replace(/:.*$/s, '')).replace(/[. ]+$/, ''));
  return parts.some((part, index) => isProtectedName(part) || (part === '.bin' && parts[index - 1] === 'node_modules'));
}

function isProtectedName(name: string): boolean {
  return PROTECTED.has(name) || name.startsWith('.env') || name.endsWith('.code-workspace') || SHORT_NAME.test(name);
}
