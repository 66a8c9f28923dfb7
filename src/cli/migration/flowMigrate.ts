import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { formatCount } from '../../core/text/format.ts';
import { migratePocketFlow } from '../../flows/migration/pocketFlow.ts';
import type { Context } from '../command/context.ts';
import { readNamedFile } from '../grammar/jsonObject.ts';

/**
 * `farwharf flow migrate`: rewrites files that use PocketFlow. Prints the changes as a patch and writes nothing without `--write`. JSON:
 * `{ file, changed, patch, unconverted: [{ line, column, message }] }` for each file.
 */
export async function migrateFlows(
  { terminal, signal }: Context,
  first: string,
  { write = false }: { readonly write?: boolean },
  rest: readonly string[],
): Promise<void> {
  let changed = 0;
  let left = 0;
  for (const argument of [first, ...rest]) {
    signal.throwIfAborted();
    const file = resolve(argument);
    const before = await readNamedFile(file);
    const { text, unconverted } = migratePocketFlow(argument, before);
    const isChanged = text !== before;
    const patch = isChanged ? createTwoFilesPatch(argument, argument, before, text, '', '') : '';
    if (isChanged && write) await writeAtomically(file, text, { mode: (await stat(file)).mode });
    changed += Number(isChanged);
    left += unconverted.length;
    if (!terminal.json({ file: argument, changed: isChanged, patch, unconverted }) && isChanged && !write) {
      terminal.answerText(patch.trimEnd());
    }
    for (const { line, column, message } of unconverted) terminal.note(`${argument}:${line}:${column}: ${message}`);
  }
  const [files, places] = [formatCount(changed, 'file'), formatCount(left, 'place')];
  terminal.note(`${files} ${write ? 'changed' : 'to change'}, ${places} to change by hand`);
  if (changed > 0 && !write) terminal.note('Nothing was written. Write the changes with --write.');
}
