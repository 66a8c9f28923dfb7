import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { ComparedFlows } from '../../../flows/project/flowChanges.ts';
import type { FileRevision } from '../../../workspace/git/fileHistory.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import { requireTrust } from '../../workspace/folders.ts';

type Versions = RemoteService<FlowWorkerService>['versions'];

/** A version in a list. */
const rowOf = ({ commit, at, subject }: FileRevision) => ({
  label: withoutIcons(subject),
  description: label`${commit.slice(0, 8)} · ${new Date(at).toLocaleString(undefined, { dateStyle: 'medium' })}`,
  commit,
  name: commit.slice(0, 8),
});
// Not a commit.
const CURRENT = { label: label`$(edit) ${l10n.t('The file as it is now')}`, commit: null, name: 'now' };

/**
 * Asks for two versions of a flow's file and compares them.
 *
 * @returns undefined if the user cancelled.
 * @throws AppError `untrusted` in a restricted workspace, `missing` if git knows no earlier version.
 */
export async function compareVersions(
  versions: Versions,
  uri: vscode.Uri,
  file: string,
): Promise<(ComparedFlows & { readonly before: string; readonly after: string }) | undefined> {
  requireTrust();
  const name = vscode.workspace.asRelativePath(uri);
  const rows = (await versions.revisions(file)).map(rowOf);
  if (rows.length === 0) {
    throw new AppError(
      'missing',
      l10n.t('Git has no version of {0} to compare with. Commit the file to a git repository first.', name),
    );
  }
  const before = await pickRow(rows, {
    title: l10n.t('Compare {0} from', name),
    placeHolder: l10n.t('The earlier version'),
  });
  if (before === undefined) return undefined;
  const later = rows.slice(0, rows.indexOf(before));
  const after =
    later.length === 0
      ? CURRENT
      : await pickRow([CURRENT, ...later], {
          title: l10n.t('Compare {0} to', name),
          placeHolder: l10n.t('The later version'),
        });
  if (after === undefined) return undefined;
  const compared = await versions.compare(file, before.commit, after.commit);
  return { ...compared, before: before.name, after: after.name };
}
