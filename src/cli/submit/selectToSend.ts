import { AppError } from '../../core/errors.ts';
import { requireScript } from '../../jobs/selection/script.ts';
import type { SubmitIntent } from '../../jobs/plan/draft.ts';
import { isOwnGit } from '../../workspace/select/exclusion.ts';
import { type Selection, selectFiles } from '../../workspace/select/selection.ts';
import type { Context } from '../command/context.ts';
import { describeExclusions } from './selectionSummary.ts';

/**
 * The files of a folder that are to be sent.
 *
 * @throws AppError `bad-input` if there is nothing to send, or as `selectFiles` and `requireScript` do.
 */
export async function selectToSend(
  folder: string,
  { signal, terminal }: Context,
  { include = [], exclude = [], script }: SubmitIntent,
): Promise<Selection> {
  const selection = await selectFiles(folder, {
    isTrusted: true,
    include,
    exclude,
    signal,
    onProgress: (files) => terminal.status(`reading ${folder}: ${files.toLocaleString('en-US')} files`),
  });
  terminal.clearStatus();
  if (selection.files.length === 0) {
    throw new AppError('bad-input', describeNothing(folder, selection));
  }
  if (script !== undefined) {
    requireScript(selection, script, (path) =>
      exclude.includes(path) ? 'Remove --exclude.' : `Send it with --include ${path}, or change the rule.`,
    );
  }
  return selection;
}

function describeNothing(folder: string, selection: Selection): string {
  const nothing = `Nothing to send in ${folder}`;
  if (selection.excluded.every(isOwnGit))
    return `${nothing}: the folder has no files. Add the script, or specify another folder.`;
  const why = describeExclusions(selection)
    .map((line) => line.trim())
    .join('; ');
  return `${nothing}: every file is left out. Send a file anyway with --include PATH. Details: ${why}.`;
}
