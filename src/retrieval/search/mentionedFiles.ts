import type { FileMention } from './fileMentions.ts';

/** How well a file matches the paths that a query mentions. */
export interface MentionedFile {
  /** From 0 to 1: the fraction of the mentioned path that the end of the file's path matches; lower for later mentions. */
  readonly fit: number;
  readonly line?: number | undefined;
}

// A name that more files share is too ambiguous.
const MOST_FILES = 8;
// The first lines of a stack trace are nearer to its cause.
const LATER = 0.85;

/**
 * The files of a folder that mentions are about: those whose paths have most names in common with the end of a mention, at least the
 * last one, with or without its extension if it has none. Words such as `success/error` are no path: without an extension, the folder must fit
 * too, if the file is in one.
 */
export function mentionedFiles(
  mentions: readonly FileMention[],
  paths: Iterable<string>,
): ReadonlyMap<string, MentionedFile> {
  const byPath = new Map<string, MentionedFile>();
  if (mentions.length === 0) return byPath;
  const byName = Map.groupBy(
    mentions.map((mention) => ({ mention, common: 0, files: [] as string[] })),
    ({ mention }) => mention.names[0] ?? '',
  );
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
    const dot = name.indexOf('.', 1);
    const candidates = byName.get(name) ?? (dot < 0 ? undefined : byName.get(name.slice(0, dot)));
    for (const candidate of candidates ?? []) {
      const { names } = candidate.mention;
      const common = commonNames(names, path);
      const hasFolder = common > 1 || names.length === 1 || !path.includes('/');
      if (common < candidate.common || !(hasFolder || names[0] === name)) continue;
      if (common > candidate.common) candidate.files = [];
      candidate.common = common;
      candidate.files.push(path);
    }
  }
  let part = 1;
  for (const { mention, common, files } of [...byName.values()].flat()) {
    if (files.length > MOST_FILES) continue;
    const fit = (part * (1 + common)) / (1 + mention.names.length);
    for (const path of files) if ((byPath.get(path)?.fit ?? 0) < fit) byPath.set(path, { fit, line: mention.line });
    if (files.length > 0) part *= LATER;
  }
  return byPath;
}

function commonNames(names: readonly string[], path: string): number {
  const parts = path.toLowerCase().split('/').reverse();
  let count = 1;
  while (count < names.length && names[count] === parts[count]) count += 1;
  return count;
}
