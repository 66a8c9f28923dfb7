import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { isDebuggable, isFrozen } from '../../jobs/report/frozenText.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import { patchFromJob } from '../../jobs/log/jobPatch.ts';
import { DEFAULT_HOLD } from '../../remote/protocol/debugging.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import { DEBUG_TYPE } from '../contributions/names.ts';
import { jobCommand, type JobFinder } from '../jobs/list/jobCommand.ts';
import { showDone } from '../ui/show.ts';
import type { JobDebugging } from './jobDebugging.ts';

interface DebugCommandDeps {
  readonly debugging: Pick<JobDebugging, 'attach'>;
  readonly hosts: Pick<Hosts, 'endFreeze' | 'extendFreeze'>;
  readonly jobs: JobFinder;
  readonly ledger: Pick<AsyncLedger, 'update'>;
}

export function debugCommands({ debugging, hosts, jobs, ledger }: DebugCommandDeps): Commands<'debug'> {
  const frozen = { fits: isFrozen, none: l10n.t('No job waits for a debugger.') };
  const change = async ({ id }: JobRecord, job: unknown, done: string): Promise<void> => {
    await ledger.update(id, patchFromJob(job));
    showDone(done);
  };
  return {
    'farwharf.debugAsJob': async (argument) => {
      const file = fileOf(argument) ?? vscode.window.activeTextEditor?.document.uri;
      const folder = file && vscode.workspace.getWorkspaceFolder(file);
      await vscode.debug.startDebugging(folder, {
        type: DEBUG_TYPE,
        request: 'launch',
        name: l10n.t('Debug as Job'),
        ...(file?.scheme === 'file' && folder !== undefined && { file: file.fsPath }),
      });
    },
    'farwharf.attachDebugger': jobCommand(jobs, {
      title: l10n.t('Attach Debugger'),
      only: { fits: isDebuggable, none: l10n.t('No job that was submitted with a debugger is running.') },
      run: (record) => debugging.attach(record),
    }),
    'farwharf.extendHold': jobCommand(jobs, {
      title: l10n.t('Extend Hold Time'),
      only: frozen,
      run: async (record) =>
        change(
          record,
          await hosts.extendFreeze(record.host, record.jobId ?? '', DEFAULT_HOLD),
          l10n.t('The job waits {0} min longer', DEFAULT_HOLD / 60),
        ),
    }),
    'farwharf.giveUpDebugging': jobCommand(jobs, {
      title: l10n.t('Give Up Debugging'),
      only: frozen,
      run: async (record) =>
        change(record, await hosts.endFreeze(record.host, record.jobId ?? ''), l10n.t('The job ends as it would have')),
    }),
  };
}

function fileOf(argument: unknown): vscode.Uri | undefined {
  return argument instanceof vscode.Uri ? argument : undefined;
}
