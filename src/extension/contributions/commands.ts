import * as vscode from 'vscode';
import { type CommandId, type Feature, FEATURE_COMMANDS } from './names.ts';

/**
 * Runs a command. Its result is for keybindings, tasks and other extensions.
 *
 * @param argument of a menu, a keybinding or another extension. A command throws an AppError for one that it rejects.
 * @param selected all selected rows, if a menu of one of several was used.
 */
export type Command = (argument: unknown, selected?: unknown) => unknown;

/** The commands of a feature. */
export type Commands<F extends Feature> = Readonly<Record<CommandId<F>, Command>>;

/** Loads the code of each feature's commands. */
export type FeatureCommands = { readonly [F in Feature]: () => Promise<Commands<F>> };

export interface CommandHost {
  /** Loads the features on first use, and then the code of each one's commands. */
  load(): Promise<{ readonly commands: Readonly<Record<string, () => Promise<Readonly<Record<string, Command>>>>> }>;
  /** Reports a failed command to the user, once. `retry` runs it again. */
  report(error: unknown, retry: () => void): Promise<void> | void;
}

/**
 * Registers every command of the manifest behind one wrapper, the only place that catches what commands throw.
 * A failed or aborted command returns undefined.
 */
export function registerCommands(host: CommandHost): vscode.Disposable {
  const run = async (feature: string, id: string, argument: unknown, selected: unknown): Promise<unknown> => {
    try {
      const { commands } = await host.load();
      const table = await commands[feature]?.();
      return await table?.[id]?.(argument, selected);
    } catch (error) {
      // Not awaited: the command has ended, even if its message stays on screen.
      void host.report(error, () => void run(feature, id, argument, selected));
      return undefined;
    }
  };
  return vscode.Disposable.from(
    ...Object.entries(FEATURE_COMMANDS).flatMap(([feature, ids]) =>
      ids.map((id) =>
        vscode.commands.registerCommand(id, (argument: unknown, selected: unknown) =>
          run(feature, id, argument, selected),
        ),
      ),
    ),
  );
}

/** A document's address, as buttons above its text pass it; undefined stands for that of the active editor. */
export function readDocument(argument: unknown): vscode.Uri | undefined {
  return argument instanceof vscode.Uri ? argument : undefined;
}
