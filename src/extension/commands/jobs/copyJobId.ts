import * as vscode from 'vscode';
import { jobCommand } from './jobCommand.ts';

export const copyJobId = jobCommand({
  title: 'Copy Job ID',
  fits: ({ jobId }) => jobId !== null,
  run: (_context, { id, jobId }) => vscode.env.clipboard.writeText(jobId ?? id),
});
