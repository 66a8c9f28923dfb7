import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { plural } from '../../../core/text/format.ts';
import { isActive, type JobRecord } from '../../../jobs/ledger/record.ts';
import { cancelFailures, cancelJob as cancel } from '../../jobs/cancelJob.ts';
import { forEachJob } from '../../jobs/list/forEachJob.ts';
import { formatJobLink } from '../../jobs/jobLink.ts';
import { submitAgain } from '../../submit/resubmit.ts';
import { compareJobs, compareSubmitted as compare } from '../../jobs/compareSubmitted.ts';
import { askModal, showDone } from '../../ui/show.ts';
import type { Commands } from '../command.ts';
import { comparePlots } from './comparePlots.ts';
import { downloadResults } from './downloadResults.ts';
import { jobCommand, jobsCommand } from './jobCommand.ts';

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
  /** Compares one job with what the user picks, or two jobs with each other. */
  'farwharf.compareSubmitted': jobsCommand({
    title: l10n.t('Compare Submitted Files'),
    async run({ services }, records) {
      const [first, second] = records.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
      if (first === undefined) return;
      if (records.length > 2)
        throw new AppError(
          'bad-input',
          l10n.t('{0} jobs are selected. Select two to compare them, or one.', records.length),
        );
      await (second === undefined ? compare(services, first) : compareJobs(services, first, second));
    },
  }),
  'farwharf.cancelJob': jobsCommand({
    title: l10n.t('Cancel Job'),
    only: { fits: isActive, none: l10n.t('No job is queued or running, so there is nothing to cancel.') },
    async run({ services }, records) {
      const [only] = records;
      if (only !== undefined && records.length === 1) return cancel(services, only);
      const active = records.filter(isActive);
      const question = plural(active.length, l10n.t('Cancel 1 job?'), l10n.t('Cancel {0} jobs?'));
      const detail = l10n.t('You pay for the time that they ran. Their results so far can still be downloaded.');
      if (
        active.length > 0 &&
        (await askModal(question, { detail, isWarning: true }, l10n.t('Cancel Jobs'))) === undefined
      )
        return;
      await forEachJob(active, cancelFailures, (record) => cancel(services, record));
    },
  }),
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
