import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from './names.ts';

/** What each command does. Arguments come from menus, keybindings and other extensions, so handlers validate them. */
export type CommandHandlers = Readonly<Record<CommandId, (...args: readonly unknown[]) => unknown>>;

export interface CommandHost {
  /** Loads the handlers on first use. */
  load(): Promise<{ readonly handlers: CommandHandlers }>;
  /** Reports a failed command to the user, once. `retry` runs it again. */
  report(error: unknown, retry: () => void): Promise<void> | void;
}

/**
 * Registers every command of the manifest behind one wrapper, the only place that catches what handlers throw.
 * A failed or aborted command returns undefined.
 */
export function registerCommands(host: CommandHost): vscode.Disposable {
  const run = async (id: CommandId, args: readonly unknown[]): Promise<unknown> => {
    try {
      const { handlers } = await host.load();
      return await handlers[id](...args);
    } catch (error) {
      // Not awaited: the command has ended, however long its message stays on screen.
      void host.report(error, () => void run(id, args));
      return undefined;
    }
  };
  return vscode.Disposable.from(
    ...COMMANDS.map((id) => vscode.commands.registerCommand(id, (...args: unknown[]) => run(id, args))),
  );
}
