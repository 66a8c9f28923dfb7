import { Argument, type Command } from 'commander';
import { type Flags, type FlagValues, readFlags } from './flags.ts';
import type { Context } from './commandContext.ts';
import { AppError } from '../../core/errors.ts';
import { EXIT } from './exit.ts';

/**
 * Runs a verb. Returns the exit status, or nothing for success. `rest` contains the arguments after the first one; if the verb runs commands,
 * `--` and what follows it.
 */
type Work<Values> = (
  context: Context,
  argument: string,
  flags: Values,
  rest: readonly string[],
) => Promise<number | void>;

interface Help {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly Example[];
}

interface VerbDefinition<F extends Flags> extends Help {
  /** `<id>`, or with a description and choices an `Argument`. */
  readonly args?: readonly (string | Argument)[];
  readonly flags: F;
  /** What it does with the command that may follow its arguments after `--`; absent if none may. */
  readonly runsCommands?: string;
  /** More help, above the examples. */
  readonly notes?: string;
  /** Whether the verb runs a service. Services do not undo interrupted downloads, because nobody reads their output at startup. */
  readonly isService?: boolean;
  /** Loads the verb's code when it runs, so that `--help` is fast. */
  readonly load: () => Promise<Work<FlagValues<F>>>;
}

/** Calls `work` with the context for this command line. */
export type RunVerb = (
  command: { readonly remote: string | undefined; readonly isService: boolean },
  work: (context: Context) => Promise<number>,
) => Promise<void>;

/** A command that can be added to a program, or to a command above it. */
export interface Verb {
  addTo(parent: Command, run: RunVerb): void;
}

/** A command line and what it does. */
type Example = readonly [line: string, meaning: string];

/** A verb from its definition: the flags that `load` receives have the types that `flags` declares. */
export function defineVerb<const F extends Flags>(definition: VerbDefinition<F>): Verb {
  const { args = [], flags, runsCommands, isService = false, load } = definition;
  return {
    addTo: (parent, run) => {
      const command = describe(parent, definition, definition.notes);
      for (const arg of args) command.addArgument(typeof arg === 'string' ? new Argument(arg) : arg);
      if (runsCommands !== undefined) {
        const shown = command.registeredArguments.map((each) =>
          each.required ? `<${each.name()}>` : `[${each.name()}]`,
        );
        const help = `after --: a program and its arguments, ${runsCommands}`;
        command.usage(['[options]', ...shown, '[-- COMMAND ARG…]'].join(' ')).argument('[command...]', help);
      }
      for (const option of Object.values(flags).flatMap(({ options }) => options)) command.addOption(option);
      command.action(() => {
        const { remote } = command.optsWithGlobals<{ remote?: string }>();
        return run({ remote, isService }, async (context) => {
          const work = await load();
          const [argument = '', ...rest] = runsCommands !== undefined ? withCommand(command) : command.args;
          return (await work(context, argument, readFlags(flags, command.opts()), rest)) ?? EXIT.done;
        });
      });
    },
  };
}

/** The argument before a command, and `--` with the command. @throws AppError `bad-input` for a command without `--`. */
function withCommand(command: Command): readonly string[] {
  const typed = rootOf(command).rawArgs;
  const at = typed.indexOf('--');
  const words = at === -1 ? [] : typed.slice(at + 1);
  const [argument = '', ...others] = command.args.slice(0, command.args.length - words.length);
  if (others.length > 0) {
    throw new AppError(
      'bad-input',
      `Write -- before a command: farwharf ${command.name()} ${argument} -- ${others.join(' ')}`,
    );
  }
  return at === -1 ? [argument] : [argument, '--', ...words];
}

function rootOf(command: Command): Command & { readonly rawArgs: readonly string[] } {
  let root = command;
  while (root.parent !== null) root = root.parent;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- documented, and not in its types
  return root as Command & { readonly rawArgs: readonly string[] };
}

/** A command that has verbs of its own, such as `farwharf flow`. */
export function defineGroup(help: Help, verbs: readonly Verb[]): Verb {
  return {
    addTo: (parent, run) => {
      const command = describe(parent, help);
      for (const verb of verbs) verb.addTo(command, run);
    },
  };
}

function describe(parent: Command, { name, summary, examples: list }: Help, notes?: string): Command {
  const command: Command = parent.command(name).description(summary);
  if (notes !== undefined) command.addHelpText('after', notes);
  return command.addHelpText('after', examples(...list));
}

/** The examples at the end of a command's help. */
export function examples(...list: readonly Example[]): string {
  return `\nExamples:\n${list.map(([line, meaning]) => `  # ${meaning}\n  ${line}`).join('\n')}`;
}
