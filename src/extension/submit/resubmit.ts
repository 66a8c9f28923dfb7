import * as l10n from '@vscode/l10n';
import { formatBytes } from '../../core/text/format.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { describeEstimate } from '../../jobs/plan/estimate.ts';
import { readTarget } from '../../jobs/plan/plan.ts';
import { fetchAccount } from '../../jobs/service/api.ts';
import { type StoredSubmitService, submitStored } from '../../jobs/submit/submit.ts';
import { readSetting } from '../contributions/config.ts';
import { label } from '../ui/labels.ts';
import { pickRow } from '../ui/show.ts';
import { hostLabel } from '../ui/words.ts';
import { requireTrust } from '../workspace/folders.ts';
import { send } from './sending.ts';
import { sourcesOf, submit } from './submit.ts';
import type { SubmitDeps } from './submitDeps.ts';

/** Sends an earlier job again, unchanged. Returns our ID of the new job, or undefined if the user cancelled. */
export async function submitAgain(services: SubmitDeps, record: JobRecord): Promise<string | undefined> {
  requireTrust();
  const { archiveBytes, folder, host, maxRuntime, script, command } = record;
  const account = await fetchAccount(() => services.account.ask(host));
  const at = { host, service: hostLabel(host), account };
  let isAsNow = false;
  const service: StoredSubmitService = {
    deps: { service: services.hosts.service(host), ledger: services.ledger, home: services.home },
    target: (terms) => readTarget(sourcesOf(services, host), at, terms),
    send: async (work) => {
      const title = l10n.t('Submitting {0}', script);
      const sent = await send(services, title, async (options) => ({ type: 'job', record: await work(options) }));
      return sent.record;
    },
  };
  const again = await submitStored(record, service, async (estimate) => {
    if (readSetting('confirmSubmit') === 'never') return true;
    const size = archiveBytes === null ? '' : `${formatBytes(archiveBytes)} · `;
    const asThen = {
      label: label`$(debug-rerun) ${l10n.t('Send the same files again')}`,
      description: label`${size}${describeEstimate(estimate)}`,
    };
    const asNow = { label: label`$(rocket) ${l10n.t('Submit the folder as it is now')}` };
    const title = l10n.t('Submit {0} again to {1}', script, hostLabel(host));
    const chosen = await pickRow([asThen, asNow], { title });
    isAsNow = chosen === asNow;
    return chosen === asThen;
  });
  return isAsNow
    ? submit(services, { folder, ...(command === null ? { script } : { command }), maxRuntime })
    : again?.id;
}
