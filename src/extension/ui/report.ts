import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { isAbort } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type ErrorAction, explain } from './errorText.ts';
import { showError } from './show.ts';

const TITLES: Readonly<Record<ErrorAction, string>> = {
  retry: l10n.t('Try Again'),
  submitAgain: l10n.t('Submit Again'),
  signIn: l10n.t('Sign In'),
  trust: l10n.t('Manage Workspace Trust'),
  openFolder: l10n.t('Open Folder'),
  checkJobs: l10n.t('Check Jobs'),
  openLog: l10n.t('Open Log'),
};
const COMMANDS: Readonly<Record<Exclude<ErrorAction, 'retry' | 'submitAgain'>, string>> = {
  signIn: 'farwharf.signIn',
  trust: 'workbench.trust.manage',
  openFolder: 'vscode.openFolder',
  checkJobs: 'farwharf.jobs.focus',
  openLog: 'farwharf.openLog',
};

/** Logs a failure and shows it once, with suitable buttons. An abort is intended and is not reported. */
export async function reportError(log: Logger, error: unknown, retry?: () => void): Promise<void> {
  if (isAbort(error)) return;
  log.error('a command failed', { error });
  const { sentence, actions } = explain(error);
  const offered = actions.filter((action) => retry !== undefined || (action !== 'retry' && action !== 'submitAgain'));
  const title = await showError(sentence, ...offered.map((action) => TITLES[action]));
  const action = offered.find((candidate) => TITLES[candidate] === title);
  if (action === undefined) return;
  if (action === 'retry' || action === 'submitAgain') retry?.();
  else await vscode.commands.executeCommand(COMMANDS[action]);
}
