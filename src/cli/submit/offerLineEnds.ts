import { join } from 'node:path';
import { lineEndFindings, readScriptHead } from '../../jobs/selection/scriptHead.ts';
import { describeFinding } from '../../jobs/plan/preflight.ts';
import { replaceWindowsLineEnds } from '../../workspace/files/lineEnds.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import { confirm } from '../command/confirm.ts';
import type { Context } from '../command/context.ts';

/**
 * Offers to rewrite a shell script that has the line ends of Windows.
 *
 * @returns whether it was rewritten, so that the folder must be read again.
 * @throws as `replaceWindowsLineEnds`.
 */
export async function offerLineEnds(selection: Selection, script: string, context: Context): Promise<boolean> {
  const start = await readScriptHead(selection, script);
  const [finding] = start === undefined ? [] : lineEndFindings(start);
  if (start === undefined || finding === undefined) return false;
  // What a link leads to may belong to others.
  if (selection.files.some((file) => file.path === start.path && file.source !== undefined)) return false;
  if (!(await confirm(`${describeFinding(finding)} Rewrite it now?`, context))) return false;
  await replaceWindowsLineEnds(join(selection.root, start.path));
  context.terminal.note(`${start.path} now has LF line ends.`);
  return true;
}
