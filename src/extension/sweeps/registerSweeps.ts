import * as vscode from 'vscode';
import type { WindowParts } from '../contributions/parts.ts';
import type { Hosts } from '../account/hosts.ts';
import type { Commands } from '../contributions/commands.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { LostContacts } from '../jobs/store/lostContacts.ts';
import type { SweepCommandInputs } from './sweepCommands.ts';
import { SweepPages } from './sweepPages.ts';
import { SweepRuns } from './sweepRuns.ts';

interface SweepInputs extends Pick<WindowParts, 'context' | 'home' | 'ledger' | 'log' | 'parts' | 'signal'> {
  readonly hosts: Hosts;
  readonly jobs: { readonly lostContacts: LostContacts; readonly store: JobStore };
  /** Called for each job that was sent. */
  readonly onSent: (id: string) => void;
}

interface SweepFeature {
  readonly pages: SweepPages;
  readonly runs: SweepRuns;
  readonly commands: (inputs: SweepCommandInputs) => Promise<Commands<'sweeps'>>;
}

/** Sends the jobs of sweeps and shows their pages. */
export function registerSweeps({
  context,
  home,
  hosts,
  jobs: { lostContacts, store },
  ledger,
  log,
  onSent,
  parts,
  signal,
}: SweepInputs): SweepFeature {
  const { extensionUri: extension, workspaceState: memory } = context;
  const runs = parts.add(new SweepRuns({ home, hosts, ledger, store, memory, log, onSent }));
  const pages = parts.add(new SweepPages({ home, ledger, runs, lostContacts, log, extension }));
  if (vscode.workspace.isTrusted) parts.run('sweeps', runs.continueInterrupted());
  return {
    pages,
    runs,
    commands: async (inputs) =>
      (await import('./sweepCommands.ts')).sweepCommands({ ...inputs, home, ledger, pages, runs, signal }),
  };
}
