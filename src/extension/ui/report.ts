import * as vscode from 'vscode';
import { isAbort } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { type ErrorAction, explain } from './errorText.ts';
import { showError } from './show.ts';

const TITLES: Readonly<Record<ErrorAction, string>> = {
  retry: 'Try Again',
  submitAgain: 'Submit Again',
  signIn: 'Sign In',
  trust: 'Manage Workspace Trust',
  checkJobs: 'Check Jobs',
  openLog: 'Open Log',
};
const COMMANDS: Readonly<Record<Exclude<ErrorAction, 'retry' | 'submitAgain'>, string>> = {
  signIn: 'farwharf.signIn',
  trust: 'workbench.trust.manage',
  checkJobs: 'farwharf.jobs.focus',
  openLog: 'farwharf.openLog',
};

/** Logs a failure and shows it once, with suitable buttons. An abort is intended and is not reported. */
export async function reportError(log: Logger, error: unknown, retry?: () => void): Promise<void> {
  if (isAbort(error)) return;
  log.error('a command failed', { error });
  const { sentence, actions } = explain(error);
  const offered = actions.filter((action) => retry !== undefined || (action !== 'retry' && action !== 'submitAgain'));
  const chosen = await showError(sentence, ...offered.map((action) => TITLES[action]));
  const action = offered.find((candidate) => TITLES[candidate] === chosen);
  if (action === undefined) return;
  if (action === 'retry' || action === 'submitAgain') retry?.();
  else await vscode.commands.executeCommand(COMMANDS[action]);
}
