import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatJobLink } from '../../links/jobLink.ts';
import { showDone } from '../../ui/show.ts';
import { jobCommand } from './jobCommand.ts';

export const copyJobLink = jobCommand({
  title: l10n.t('Copy Link to Job'),
  only: {
    fits: ({ jobId }) => jobId !== null,
    none: l10n.t('No job has an ID yet. A service returns it when it accepts the job.'),
  },
  async run(_context, { host, jobId }) {
    if (jobId === null) return;
    await vscode.env.clipboard.writeText(formatJobLink(vscode.env.uriScheme, { host, jobId }));
    showDone(l10n.t('Link copied'));
  },
});
