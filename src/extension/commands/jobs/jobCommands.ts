import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { formatJobLink } from '../../links/jobLink.ts';
import { submitAgain } from '../../submit/resubmit.ts';
import { showDone } from '../../ui/show.ts';
import type { Commands } from '../command.ts';
import { cancelJob } from './cancelJob.ts';
import { comparePlots } from './comparePlots.ts';
import { compareSubmitted } from './compareSubmitted.ts';
import { downloadResults } from './downloadResults.ts';
import { jobCommand } from './jobCommand.ts';

const WITH_ID = {
  fits: ({ jobId }: JobRecord) => jobId !== null,
  none: l10n.t('No job has an ID yet. A service returns it when it accepts the job.'),
};

export const jobCommands = {
  'farwharf.showLog': jobCommand({
    title: l10n.t('Show Log'),
    run: ({ services }, record) => services.jobLog.show(record, { reveal: true }),
  }),
  'farwharf.showJobPage': jobCommand({
    title: l10n.t('Show Job Page'),
    run: ({ services }, record) => services.pages.show(record),
  }),
  'farwharf.showEvents': jobCommand({
    title: l10n.t('Show Events'),
    run: ({ services }, record) => services.events.show(record),
  }),
  'farwharf.comparePlots': comparePlots,
  'farwharf.compareSubmitted': compareSubmitted,
  'farwharf.cancelJob': cancelJob,
  'farwharf.downloadResults': downloadResults,
  'farwharf.resubmitJob': jobCommand({
    title: l10n.t('Submit Again'),
    run: ({ services }, record) => submitAgain(services, record),
  }),
  'farwharf.copyJobId': jobCommand({
    title: l10n.t('Copy Job ID'),
    only: WITH_ID,
    async run(_context, { id, jobId }) {
      await vscode.env.clipboard.writeText(jobId ?? id);
      showDone(l10n.t('Job ID copied'));
    },
  }),
  'farwharf.copyJobLink': jobCommand({
    title: l10n.t('Copy Link to Job'),
    only: WITH_ID,
    async run(_context, { host, jobId }) {
      if (jobId === null) return;
      await vscode.env.clipboard.writeText(formatJobLink(vscode.env.uriScheme, { host, jobId }));
      showDone(l10n.t('Link copied'));
    },
  }),
} satisfies Commands;
