import * as vscode from 'vscode';
import type { AsyncLedger } from '../../jobs/ledger/asyncLedger.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { Commands } from '../contributions/commands.ts';
import { readJobArgument } from '../contributions/jobArgument.ts';
import { connectNewMachine } from './newMachine.ts';
import { removeSecret, type SecretDeps, setSecret } from './secrets.ts';
import { type BudgetDeps, setBudget } from './setBudget.ts';
import { selectHost, type SelectHostDeps, signIn, signOut } from './signIn.ts';

/** What commands about accounts need to know of jobs. */
export interface JobsOfAccount {
  readonly ledger: Pick<AsyncLedger, 'spending'>;
  readonly store: { readonly records: readonly JobRecord[]; get(id: string): JobRecord | undefined };
}

interface AccountCommandDeps extends SelectHostDeps, SecretDeps, BudgetDeps, JobsOfAccount {
  readonly hosts: SelectHostDeps['hosts'];
  readonly account: SelectHostDeps['account'];
  readonly store: JobsOfAccount['store'];
  readonly output: vscode.LogOutputChannel;
}

export function accountCommands(deps: AccountCommandDeps): Commands<'account'> {
  const { hosts, output, store } = deps;
  return {
    'farwharf.selectHost': () => selectHost(deps),
    'farwharf.connectMachine': () => connectNewMachine(deps),
    /** Signs in to the host of a job, or to the selected host. */
    'farwharf.signIn': (argument) => {
      const job = readJobArgument(argument);
      const host = job === undefined ? undefined : store.get(job)?.host;
      return signIn(deps, host ?? hosts.current());
    },
    /** Signs out of the selected host. */
    'farwharf.signOut': () => signOut(deps, hosts.current()),
    'farwharf.setBudget': () => setBudget(deps),
    'farwharf.setSecret': () => setSecret(deps),
    'farwharf.removeSecret': () => removeSecret(deps),
    'farwharf.openSettings': () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:farwharf.farwharf'),
    'farwharf.openLog': () => output.show(true),
  };
}
