import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from './names.ts';

export interface CommandHost {
  /** Loads the code of the commands on first use. */
  load(): Promise<{ readonly runCommand: (id: CommandId, argument: unknown, selected: unknown) => unknown }>;
  /** Reports a failed command to the user, once. `retry` runs it again. */
  report(error: unknown, retry: () => void): Promise<void> | void;
}

/**
 * Registers every command of the manifest behind one wrapper, the only place that catches what commands throw.
 * A failed or aborted command returns undefined.
 */
export function registerCommands(host: CommandHost): vscode.Disposable {
  const run = async (id: CommandId, argument: unknown, selected: unknown): Promise<unknown> => {
    try {
      const { runCommand } = await host.load();
      return await runCommand(id, argument, selected);
    } catch (error) {
      // Not awaited: the command has ended, even if its message stays on screen.
      void host.report(error, () => void run(id, argument, selected));
      return undefined;
    }
  };
  return vscode.Disposable.from(
    ...COMMANDS.map((id) =>
      vscode.commands.registerCommand(id, (argument: unknown, selected: unknown) => run(id, argument, selected)),
    ),
  );
}
