import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { jobCommand } from './jobCommand.ts';

export const copyJobId = jobCommand({
  title: l10n.t('Copy Job ID'),
  fits: ({ jobId }) => jobId !== null,
  run: (_context, { id, jobId }) => vscode.env.clipboard.writeText(jobId ?? id),
});
