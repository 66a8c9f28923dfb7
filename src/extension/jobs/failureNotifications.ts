import * as vscode from 'vscode';
import { describeJob } from '../../jobs/describe.ts';
import { hasSucceeded, type JobRecord } from '../../jobs/ledger/record.ts';
import { readSetting } from '../contributions/config.ts';
import type { SubmitMemory } from '../submit/preflight/submitMemory.ts';
import { showError } from '../ui/show.ts';

/** Shows a notification for failed jobs, as the setting asks. Jobs that succeeded or were cancelled only appear in the list. */
export async function tellFailures(ended: readonly JobRecord[], memory: SubmitMemory): Promise<void> {
  const mode = readSetting('notifyOnFailure');
  if (mode === 'never') return;
  for (const record of ended) {
    if (hasSucceeded(record) || record.state === 'cancelled') continue;
    if (mode === 'submittedHere' && !memory.wasSubmittedHere(record.id)) continue;
    const choice = await showError(`${record.script}: ${describeJob(record, Date.now())}`, 'Show Log');
    if (choice !== undefined) await vscode.commands.executeCommand('farwharf.showLog', record.id);
  }
}
