import * as vscode from 'vscode';
import { connectMachine } from '../../account/connectMachine.ts';
import { selectHost, signIn, signOut } from '../../account/signIn.ts';
import { readJobArgument } from '../../submit/submitArguments.ts';
import { type Commands, withArgument } from '../command.ts';
import { removeSecret, setSecret } from './secrets.ts';
import { setBudget } from './setBudget.ts';

export const serviceCommands = {
  'farwharf.selectHost': ({ services, globalState }) => selectHost({ ...services, globalState }),
  'farwharf.connectMachine': ({ services }) => connectMachine(services),
  /** Signs in to the host of a job, or to the selected host. */
  'farwharf.signIn': withArgument(readJobArgument, ({ services }, job) => {
    const host = job === undefined ? undefined : services.store.get(job)?.host;
    return signIn(services, host ?? services.hosts.current());
  }),
  /** Signs out of the selected host. */
  'farwharf.signOut': ({ services }) => signOut(services, services.hosts.current()),
  'farwharf.setBudget': setBudget,
  'farwharf.setSecret': setSecret,
  'farwharf.removeSecret': removeSecret,
  'farwharf.openSettings': () =>
    vscode.commands.executeCommand('workbench.action.openSettings', '@ext:farwharf.farwharf'),
  'farwharf.openLog': ({ services }) => services.output.show(true),
} satisfies Commands;
