import type { Command } from 'commander';
import { nearest } from '../../core/text/similar.ts';
import { examples } from './verb.ts';
import { findChild, commandPath } from './typedPosition.ts';

/** Adds `help` to every command with subcommands: it explains that command or one of its subcommands. */
export function addHelpCommands(command: Command): void {
  if (command.commands.length === 0) return;
  for (const child of command.commands) addHelpCommands(child);
  const [first] = command.commands;
  const commandLine = `farwharf ${commandPath(command)}`.trim();
  command
    .command('help')
    .argument('[command...]', 'command to explain')
    .description('explain a command')
    .addHelpText(
      'after',
      examples(
        [`${commandLine} help`, 'list all commands'],
        [`${commandLine} help ${first?.name()}`, `explain ${first && commandPath(first)}`],
      ),
    )
    .action((names: readonly string[]) => findCommand(command, names).outputHelp());
}

function findCommand(start: Command, names: readonly string[]): Command {
  let command = start;
  for (const [index, name] of names.entries()) {
    const child = findChild(command, name);
    if (child === undefined) {
      const before = names.slice(0, index).join(' ');
      const visible = command.createHelp().visibleCommands(command);
      const guess = nearest(
        name,
        visible.map((one) => one.name()),
      );
      const hint = guess === undefined ? '' : `\n(Did you mean ${`${before} ${guess}`.trim()}?)`;
      const message = `error: unknown command '${`${before} ${name}`.trim()}'${hint}`;
      return command.error(message, { code: 'commander.unknownCommand' });
    }
    command = child;
  }
  return command;
}
