// What the suites inside VS Code share: where things are, and how to wait for them.
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { farwharfHome } from '../../../src/core/files/home.ts';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import type { JobRecord } from '../../../src/jobs/ledger/record.ts';
import { type GatedWorkspace, writeGatedWorkspace } from './workspace.ts';

// A guard against a hang only: a busy machine takes many times as long as a quiet one.
const TIMEOUT_MS = 10 * 60_000;
const LOG_CHANNEL = 'Farwharf Job';
const POLL_MS = 50;

/** The folder of the window, as the next job finds it; its gate is a file beside FARWHARF_HOME. */
export function prepareWorkspace(gate: string): Promise<GatedWorkspace> {
  return writeGatedWorkspace(workspaceFolder(), join(dirname(farwharfHome()), gate));
}

export function workspaceFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) throw new Error('The window has no folder.');
  return folder.uri.fsPath;
}

/** Starts anew with a folder without files. */
export async function emptyFolder(): Promise<void> {
  for (const name of await readdir(workspaceFolder())) await rm(join(workspaceFolder(), name), { recursive: true });
}

/** Submits the folder without being asked anything; gives our id of the job, or undefined when there is none. */
export async function submit(job: {
  script: string;
  maxRuntime?: number;
  machineClass?: string;
}): Promise<string | undefined> {
  const settings = vscode.workspace.getConfiguration('farwharf');
  await settings.update('confirmSubmit', 'never', vscode.ConfigurationTarget.Global);
  return vscode.commands.executeCommand<string | undefined>('farwharf.submitWorkspace', { maxRuntime: 900, ...job });
}

/** The newest job of the ledger, which the extension and the command line share. */
export function newestJob(): JobRecord | undefined {
  const ledger = new JobLedger(farwharfHome());
  try {
    return ledger.list({ limit: 1 })[0];
  } finally {
    ledger.dispose();
  }
}

/** What the output channel of the shown job contains. VS Code shows it to extensions while the panel is visible. */
export function shownLog(): string {
  return logDocument()?.getText() ?? '';
}

function logDocument(): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'output' && uri.path.endsWith(LOG_CHANNEL));
}

/**
 * Waits until `look` gives something.
 *
 * @param describe says what there is instead, for the failure.
 * @throws Error after ten minutes.
 */
export async function eventually<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  describe: () => unknown = newestJob,
): Promise<T> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}; there is ${JSON.stringify(describe())}`);
    await sleep(POLL_MS);
  }
}

/** Waits until the newest job is in this state. */
export function jobIn(state: JobRecord['state']): Promise<JobRecord> {
  return eventually(() => {
    const job = newestJob();
    return job?.state === state && job;
  }, `a job that is ${state}`);
}

/** The targets of the links in the shown log, each `FILE#LLINE,COLUMN`. */
export async function logLinks(): Promise<string[]> {
  const uri = logDocument()?.uri;
  const links = await vscode.commands.executeCommand<vscode.DocumentLink[]>('vscode.executeLinkProvider', uri, 100);
  return links.map(({ target }) => (target === undefined ? 'nowhere' : `${target.fsPath}#${target.fragment}`));
}

/** Waits until the shown log holds this line. */
export function logWith(line: string): Promise<string> {
  return eventually(
    () => {
      const text = shownLog();
      return text.includes(line) && text;
    },
    `a log with '${line}'`,
    shownLog,
  );
}
