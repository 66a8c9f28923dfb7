import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { textField } from '../../../core/jsonFields.ts';
import { addJob as add } from '../../../jobs/log/addJob.ts';
import { diskFolders, pickFolder } from '../../workspace/folders.ts';
import { askText, showProgress } from '../../ui/show.ts';
import { hostLabel } from '../../ui/words.ts';
import { type Command, withArgument } from '../command.ts';

/** Adds a job that was sent from elsewhere. Returns the ID of its record. */
export const addJob: Command = withArgument(
  (argument) => textField(argument, 'jobId'),
  async ({ services, tree, follow }, asked) => {
    const host = services.hosts.current();
    const title = l10n.t('Add a job of {0}', hostLabel(host));
    const folders = diskFolders();
    if (folders.length === 0)
      throw new AppError(
        'no-folder',
        l10n.t('The results of a job are saved in a folder. Open one, then add the job.'),
      );
    const folder =
      folders.length > 1 ? await pickFolder(title, l10n.t('Select the folder for its results')) : folders[0];
    if (folder === undefined) return undefined;
    const jobId =
      asked ??
      (await askText({
        title,
        prompt: l10n.t('Job ID'),
        placeHolder: l10n.t('As the service returned it'),
        ignoreFocusOut: true,
      }));
    if (jobId === undefined || jobId.trim() === '') return undefined;
    const record = await showProgress({ location: { viewId: 'farwharf.jobs' } }, () =>
      add(
        { ledger: services.ledger, service: services.hosts.service(host) },
        { host, jobId: jobId.trim(), folder: folder.uri.fsPath },
        services.signal,
      ),
    );
    await services.store.refresh();
    follow(record);
    await tree.reveal(record.id);
    return record.id;
  },
);
