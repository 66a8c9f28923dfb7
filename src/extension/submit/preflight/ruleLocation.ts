import { homedir } from 'node:os';
import { resolve } from 'node:path';

/** The absolute path and the line, from 1, of a rule's location (`sub/.gitignore:3`) in a folder; undefined for other texts. */
export function ruleLocation(root: string, at: string): { readonly path: string; readonly line: number } | undefined {
  const { path, line } = /^(?<path>.+):(?<line>\d+)$/s.exec(at)?.groups ?? {};
  if (path === undefined || line === undefined) return undefined;
  return {
    path: resolve(
      root,
      path.replace(/^~(?=\/)/, () => homedir()),
    ),
    line: Number(line),
  };
}
