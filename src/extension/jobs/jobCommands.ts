import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { Commands } from '../contributions/commands.ts';
import { showDone } from '../ui/show.ts';
import { cancelJobs } from './cancelJob.ts';
import { compareSubmitted } from './compareSubmitted.ts';
import { formatJobLink } from './jobLink.ts';
import { jobCommand } from './list/jobCommand.ts';
import { listCommands } from './list/listCommands.ts';
import { logCommands } from './log/logCommands.ts';
import { comparePlots } from './comparePlots.ts';
import type { JobPages } from './jobPages.ts';
import type { JobStore } from './store/jobStore.ts';

type JobCommandDeps = Parameters<typeof listCommands>[0] &
  Parameters<typeof logCommands>[0] &
  Parameters<typeof compareSubmitted>[0] & {
    readonly ledger: AsyncLedger;
    readonly pages: JobPages;
    readonly store: JobStore;
  };

export function jobCommands(jobs: JobCommandDeps): Commands<'jobs'> {
  const only = {
    fits: ({ jobId }: JobRecord) => jobId !== null,
    none: l10n.t('No job has an ID yet. A service returns it when it accepts the job.'),
  };
  return {
    ...listCommands(jobs),
    ...logCommands(jobs),
    'farwharf.cancelJob': cancelJobs(jobs),
    'farwharf.showJobPage': jobCommand(jobs, {
      title: l10n.t('Show Job Page'),
      run: (record) => jobs.pages.show(record),
    }),
    'farwharf.comparePlots': comparePlots(jobs),
    'farwharf.compareSubmitted': compareSubmitted(jobs),
    'farwharf.copyJobId': jobCommand(jobs, {
      title: l10n.t('Copy Job ID'),
      only,
      async run({ id, jobId }) {
        await vscode.env.clipboard.writeText(jobId ?? id);
        showDone(l10n.t('Job ID copied'));
      },
    }),
    'farwharf.copyJobLink': jobCommand(jobs, {
      title: l10n.t('Copy Link to Job'),
      only,
      async run({ host, jobId }) {
        if (jobId === null) return;
        await vscode.env.clipboard.writeText(formatJobLink(vscode.env.uriScheme, { host, jobId }));
        showDone(l10n.t('Link copied'));
      },
    }),
  };
}
