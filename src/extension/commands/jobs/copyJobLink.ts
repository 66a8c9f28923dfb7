import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatJobLink } from '../../links/jobLink.ts';
import { jobCommand } from './jobCommand.ts';

export const copyJobLink = jobCommand({
  title: l10n.t('Copy Link to Job'),
  fits: ({ jobId }) => jobId !== null,
  run: (_context, { host, jobId }) =>
    jobId === null ? undefined : vscode.env.clipboard.writeText(formatJobLink(vscode.env.uriScheme, { host, jobId })),
});
