import * as l10n from '@vscode/l10n';
import { formatBytes } from '../../core/text/format.ts';
import { budgetCheck } from '../../jobs/plan/budgetCheck.ts';
import { describeEstimate, estimateCost, highestCredits } from '../../jobs/plan/estimate.ts';
import { preflightJob, refuseErrors } from '../../jobs/plan/preflight.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { resubmitJob } from '../../jobs/send/resubmit.ts';
import { fetchAccount } from '../../jobs/service/api.ts';
import { takesContents } from '../../jobs/plan/serviceLimits.ts';
import { readSetting } from '../contributions/config.ts';
import { requireTrust } from '../workspace/folders.ts';
import { send } from './sending.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { submit } from './submit.ts';
import { hostLabel } from '../ui/words.ts';
import { pickRow } from '../ui/show.ts';
import { label } from '../ui/labels.ts';

/** Sends an earlier job again, unchanged. Returns our ID of the new job, or undefined if the user cancelled. */
export async function submitAgain(services: SubmitDeps, record: JobRecord): Promise<string | undefined> {
  requireTrust();
  const account = await fetchAccount(() => services.account.ask(record.host));
  const { archiveBytes, folder, host, machineClass, maxRuntime, script } = record;
  const terms = { machineClass: machineClass ?? undefined, maxRuntime };
  const estimate = estimateCost(account, terms);
  if (readSetting('confirmSubmit') !== 'never') {
    const size = archiveBytes === null ? '' : `${formatBytes(archiveBytes)} · `;
    const asThen = {
      label: label`$(debug-rerun) ${l10n.t('Send the same files again')}`,
      description: label`${size}${describeEstimate(estimate)}`,
    };
    const asNow = { label: label`$(rocket) ${l10n.t('Submit the folder as it is now')}` };
    const title = l10n.t('Submit {0} again to {1}', script, hostLabel(host));
    const chosen = await pickRow([asThen, asNow], { title });
    if (chosen === undefined) return undefined;
    if (chosen === asNow) return submit(services, { folder, script, maxRuntime });
  }
  const budget = await budgetCheck(services, host);
  const findings = [
    ...preflightJob(account, terms, hostLabel(host)),
    ...budget(record.project ?? undefined, highestCredits(estimate)),
  ];
  refuseErrors(findings);
  const deps = { service: services.hosts.service(host), ledger: services.ledger, home: services.home };
  const usesContents = takesContents(account);
  const again = await send(services, l10n.t('Submitting {0}', script), async (options) => ({
    type: 'job',
    record: await resubmitJob(deps, record.id, { ...options, usesContents }),
  }));
  return again.record.id;
}
