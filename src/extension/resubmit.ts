import * as vscode from 'vscode';
import { formatBytes } from '../core/format.ts';
import { plainText } from '../core/terminalText.ts';
import { describeEstimate, estimateCost } from '../jobs/estimate.ts';
import type { JobRecord } from '../jobs/record.ts';
import { resubmitJob } from '../jobs/resubmit.ts';
import { readSetting } from './config.ts';
import { requireTrust } from './folders.ts';
import { send } from './sending.ts';
import type { Services } from './services.ts';
import { submit } from './submit.ts';
import { hostLabel } from './words.ts';

/** Sends an earlier job again, as it was. Gives our id of the new job, or undefined when the person stopped. */
export async function submitAgain(services: Services, record: JobRecord): Promise<string | undefined> {
  requireTrust();
  const account = await services.account.ask(record.host);
  const { archiveBytes, folder, host, machineClass, maxRuntime, script } = record;
  const estimate = estimateCost(account, machineClass === null ? { maxRuntime } : { machineClass, maxRuntime });
  if (readSetting('confirmSubmit') !== 'never') {
    const size = archiveBytes === null ? '' : `${formatBytes(archiveBytes)} · `;
    const asThen = {
      label: '$(debug-rerun) Send the same files again',
      description: `${size}${describeEstimate(estimate)}`,
    };
    const asNow = { label: '$(rocket) Submit the folder as it is now' };
    const title = `Submit ${plainText(script)} again to ${hostLabel(host)}`;
    const chosen = await vscode.window.showQuickPick([asThen, asNow], { title });
    if (chosen === undefined) return undefined;
    if (chosen === asNow) return submit(services, { folder, script, maxRuntime });
  }
  const deps = { service: services.hosts.service(host), ledger: services.ledger, home: services.home };
  const again = await send(services, script, (options) => resubmitJob(deps, record.id, options));
  return again.id;
}
