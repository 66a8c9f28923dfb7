import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { showDone } from '../../ui/show.ts';
import { jobCommand } from './jobCommand.ts';

export const copyJobId = jobCommand({
  title: l10n.t('Copy Job ID'),
  only: {
    fits: ({ jobId }) => jobId !== null,
    none: l10n.t('No job has an ID yet. A service returns it when it accepts the job.'),
  },
  async run(_context, { id, jobId }) {
    await vscode.env.clipboard.writeText(jobId ?? id);
    showDone(l10n.t('Job ID copied'));
  },
});
