import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import { hostLabel } from '../ui/words.ts';
import { readJobLink } from './jobLink.ts';

export interface LinkDeps {
  readonly ledger: Pick<AsyncLedger, 'findJob'>;
  readonly hosts: { current(): string };
  /** Asks in a modal dialog; undefined if the user closes it. */
  readonly ask: (
    question: string,
    options: { readonly detail: string },
    button: string,
  ) => PromiseLike<string | undefined>;
  /** Runs a command of this extension. */
  readonly run: (command: string, argument: unknown) => PromiseLike<unknown>;
}

/**
 * Shows the page of the job that a link leads to, after a question, since any page or message can contain a link. A job that is not in the
 * list is added to it, but only if its service is the selected one: a link chooses no service and sends no key anywhere.
 *
 * @throws AppError as `readJobLink` does, `missing` for a job of another service that is not in the list.
 */
export async function openJobLink(
  { ledger, hosts, ask, run }: LinkDeps,
  uri: { readonly path: string; readonly query: string },
): Promise<void> {
  const { host, jobId } = readJobLink(uri);
  const record = await ledger.findJob(host, jobId);
  if (record !== undefined && !record.removed) {
    const answer = await ask(
      l10n.t('Show job {0}?', jobId),
      { detail: l10n.t('{0} on {1}', record.script, hostLabel(host)) },
      l10n.t('Show'),
    );
    if (answer !== undefined) await run('farwharf.showJobPage', record.id);
    return;
  }
  const current = hosts.current();
  if (host !== current) {
    throw new AppError(
      'missing',
      l10n.t(
        'The link leads to a job on {0}, but this window uses {1}. Select that service, then open the link again.',
        hostLabel(host),
        hostLabel(current),
      ),
    );
  }
  const detail = l10n.t('It is not in your list. Farwharf will ask {0} for it and add it.', hostLabel(host));
  if ((await ask(l10n.t('Add job {0}?', jobId), { detail }, l10n.t('Add'))) === undefined) return;
  const added = await run('farwharf.addJob', { jobId });
  if (typeof added === 'string') await run('farwharf.showJobPage', added);
}
