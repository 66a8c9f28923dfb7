import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { formatCount } from '../../core/text/format.ts';
import { diskHost } from '../../flows/project/diskHost.ts';
import { ParsedFiles } from '../../flows/project/parsedFiles.ts';
import { foreignFlows } from '../../flows/migration/foreignFlows.ts';
import { migratePocketFlow } from '../../flows/migration/pocketFlow.ts';
import type { Context } from '../command/commandContext.ts';
import { readNamedFile } from '../../core/files/namedFile.ts';

/**
 * `farwharf flow migrate`: rewrites files that use PocketFlow. Prints the changes as a patch and writes nothing without `--write`. JSON:
 * `{ file, changed, patch, unconverted: [{ line, column, message }] }` for each file.
 */
export async function migrateFlows(
  { terminal, cwd, signal }: Context,
  first: string,
  { write = false }: { readonly write?: boolean },
  rest: readonly string[],
): Promise<void> {
  let changed = 0;
  let left = 0;
  // First all of them, because the classes of one are used by others, and are needed as they were.
  const named = new Map<string, { readonly argument: string; readonly before: string }>();
  for (const argument of [first, ...rest]) {
    const file = resolve(cwd, argument);
    named.set(file, { argument, before: await readNamedFile(file) });
  }
  const parsed = new ParsedFiles({
    version: (file) => (named.has(file) ? 'named' : diskHost.version(file)),
    read: (file) => named.get(file)?.before ?? diskHost.read(file),
  });
  for (const [file, { argument, before }] of named) {
    signal.throwIfAborted();
    const { text, unconverted } = migratePocketFlow(argument, before, (candidates) =>
      parsed.find(candidates.map((candidate) => resolve(cwd, candidate))),
    );
    const isChanged = text !== before;
    const patch = isChanged ? createTwoFilesPatch(argument, argument, before, text, '', '') : '';
    if (isChanged && write) await writeAtomically(file, text, { mode: (await stat(file)).mode });
    changed += Number(isChanged);
    left += unconverted.length;
    if (!terminal.json({ file: argument, changed: isChanged, patch, unconverted }) && isChanged && !write) {
      terminal.answerText(patch.trimEnd());
    }
    for (const { line, column, message } of unconverted) terminal.note(`${argument}:${line}:${column}: ${message}`);
    if (!isChanged && unconverted.length === 0)
      terminal.note(`${argument}: ${foreignFlows(before) ?? 'It does not use PocketFlow.'}`);
  }
  const [files, places] = [formatCount(changed, 'file'), formatCount(left, 'place')];
  terminal.note(`${files} ${write ? 'changed' : 'to change'}, ${places} to change by hand`);
  if (changed > 0 && !write) terminal.note('Nothing was written. Write the changes with --write.');
}
