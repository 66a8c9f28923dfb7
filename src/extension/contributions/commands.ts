import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from './names.ts';

/** What each command does. Arguments come from menus, keybindings and other extensions: handlers check them. */
export type CommandHandlers = Readonly<Record<CommandId, (...args: readonly unknown[]) => unknown>>;

export interface CommandHost {
  /** Loads the handlers on first use. */
  load(): Promise<{ readonly handlers: CommandHandlers }>;
  /** Tells a person about a failed command, once. `retry` runs it again. */
  report(error: unknown, retry: () => void): Promise<void> | void;
}

/**
 * Registers every command of the manifest behind one wrapper: handlers throw, and this is the only place where it is caught.
 * A failed or aborted command answers with undefined.
 */
export function registerCommands(host: CommandHost): vscode.Disposable {
  const run = async (id: CommandId, args: readonly unknown[]): Promise<unknown> => {
    try {
      const { handlers } = await host.load();
      return await handlers[id](...args);
    } catch (error) {
      // Not awaited: the command is over, however long its message stays on the screen.
      void host.report(error, () => void run(id, args));
      return undefined;
    }
  };
  return vscode.Disposable.from(
    ...COMMANDS.map((id) => vscode.commands.registerCommand(id, (...args: unknown[]) => run(id, args))),
  );
}
