import * as vscode from 'vscode';
import type { CommandId } from '../contributions/names.ts';
import type { FailureDocuments } from '../failures/failureDocuments.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { JobNode } from '../jobs/store/jobNodes.ts';
import type { JobTree } from '../jobs/list/jobTree.ts';
import type { Flows } from '../flows/flows.ts';
import type { Search } from '../search/search.ts';
import type { Services } from '../services/services.ts';

/** What commands use. */
export interface CommandContext {
  readonly services: Services;
  /** The Jobs view. */
  readonly tree: Pick<JobTree, 'reveal' | 'showMoreOf'>;
  /** The rows of it that the pressed key concerns. */
  readonly keyRows: () => Promise<readonly JobNode[]>;
  /** Reads the log of a job that is not followed yet. */
  readonly follow: (record: JobRecord) => void;
  readonly globalState: vscode.Memento;
  readonly extensionId: string;
  /** Where the extension is installed. */
  readonly extensionUri: vscode.Uri;
  /** Created on first use. */
  readonly failures: () => FailureDocuments;
  /** Created on first use. */
  readonly search: () => Search;
  /** Created on first use. */
  readonly flows: () => Flows;
}

/**
 * Runs a command. Its result is for keybindings, tasks and other extensions.
 *
 * @param selected all selected rows, if a menu of one of several was used.
 */
export type Command = (context: CommandContext, argument: unknown, selected?: unknown) => unknown;

/** Some of the commands of the manifest. */
export type Commands = Readonly<Partial<Record<CommandId, Command>>>;

/**
 * A command with an argument.
 *
 * @param read types the argument, which comes from a menu, a keybinding or another extension. It throws an AppError for one that it
 *   rejects.
 */
export function withArgument<T>(
  read: (argument: unknown) => T,
  run: (context: CommandContext, argument: T) => unknown,
): Command {
  return (context, argument) => run(context, read(argument));
}

export function readText(argument: unknown): string {
  return typeof argument === 'string' ? argument : '';
}

/** A document's address, as buttons above its text pass it; undefined stands for that of the active editor. */
export function readDocument(argument: unknown): vscode.Uri | undefined {
  return argument instanceof vscode.Uri ? argument : undefined;
}
