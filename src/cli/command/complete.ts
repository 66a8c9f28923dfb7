import type { Argument, Command, Option } from 'commander';
import { type TypedPosition, readPosition } from './typedPosition.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Candidate } from './recentJobs.ts';

/** The first argument of a request by a completion script. */
export const COMPLETION_REQUEST = '__complete';

/** Candidates for a word. `paths` makes the shell offer files or folders too. */
interface Completion {
  readonly candidates: readonly Candidate[];
  readonly paths: 'none' | 'files' | 'folders';
}

type Jobs = (remote: string | undefined) => Promise<readonly Candidate[]>;

const NOTHING: Completion = { candidates: [], paths: 'none' };
// By placeholder of an argument or a flag in the grammar, such as `--into <dir>`.
const PATHS: Readonly<Record<string, Completion['paths']>> = {
  file: 'files',
  path: 'files',
  paths: 'files',
  args: 'files',
  dir: 'folders',
  folder: 'folders',
};
const JOB_ID = 'id';

/**
 * Completes the word under the cursor.
 *
 * @param before the words between the program's name and that word.
 * @param jobs the jobs of a service, by its `--remote`; called only where a job's ID is expected.
 */
export async function complete(
  program: Command,
  before: readonly string[],
  word: string,
  jobs: Jobs,
): Promise<Completion> {
  const position = readPosition(program, before);
  const found = await offer(position, word, () => jobs(remoteOf(before)));
  return { ...found, candidates: found.candidates.filter(({ value }) => value.startsWith(word)) };
}

async function offer(
  { command, operands, pending, areFlagsOver }: TypedPosition,
  word: string,
  jobs: () => Promise<readonly Candidate[]>,
): Promise<Completion> {
  if (pending !== undefined) return offerValue(pending, placeholderOf(pending), jobs);
  if (word.startsWith('-') && !areFlagsOver) return offerFlags(command, word);
  if (command.name() === 'help' && command.parent !== null) {
    return { candidates: subcommands(readPosition(command.parent, operands).command), paths: 'none' };
  }
  const subcommandNames = operands.length === 0 && !areFlagsOver ? subcommands(command) : [];
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const next = all[operands.length] ?? (last?.variadic === true ? last : undefined);
  const { candidates, paths } = next === undefined ? NOTHING : await offerValue(next, next.name(), jobs);
  return { candidates: [...subcommandNames, ...candidates], paths };
}

async function offerValue(
  { argChoices }: Pick<Option | Argument, 'argChoices'>,
  name: string,
  jobs: () => Promise<readonly Candidate[]>,
): Promise<Completion> {
  if (argChoices !== undefined) return { candidates: argChoices.map((value) => plain(value)), paths: 'none' };
  if (name === JOB_ID) return { candidates: await jobs(), paths: 'none' };
  return { candidates: [], paths: PATHS[name] ?? 'none' };
}

/** All flags, or the choices of one flag after `--format=`. */
function offerFlags(command: Command, word: string): Completion {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...ancestorsOf(command).flatMap((one) => one.options)];
  const option = options.find(({ long }) => word.startsWith(`${long}=`));
  if (option !== undefined) {
    return { candidates: (option.argChoices ?? []).map((value) => plain(`${option.long}=${value}`)), paths: 'none' };
  }
  const candidates = options.flatMap(({ long, hidden, description }) =>
    long === undefined || hidden ? [] : [{ value: long, description }],
  );
  return { candidates, paths: 'none' };
}

function subcommands(command: Command): Candidate[] {
  const children = command.createHelp().visibleCommands(command);
  return children.map((child) => ({ value: child.name(), description: child.description() }));
}

function ancestorsOf({ parent }: Command): readonly Command[] {
  return parent === null ? [] : [parent, ...ancestorsOf(parent)];
}

/** `dir` of `--into <dir>`. */
function placeholderOf({ flags }: Option): string {
  return /[<[](\w+)/.exec(flags)?.[1] ?? '';
}

function remoteOf(words: readonly string[]): string | undefined {
  const index = words.lastIndexOf('--remote');
  return index === -1 ? undefined : words[index + 1];
}

function plain(value: string): Candidate {
  return { value, description: '' };
}

/**
 * Prints a line for each candidate (value, tab, description), then `:none`, `:files` or `:folders`.
 *
 * @param words `=` with the word under the cursor, because shells drop empty arguments, then the words before it.
 */
export async function answerCompletion(
  program: Command,
  [current = '=', ...before]: readonly string[],
  { terminal, env }: { readonly terminal: Terminal; readonly env: NodeJS.ProcessEnv },
): Promise<void> {
  const { candidates, paths } = await complete(program, before, current.slice(1), async (remote) => {
    const { recentJobs } = await import('./recentJobs.ts');
    return recentJobs(remote, env);
  });
  for (const { value, description } of candidates) terminal.answer(`${value}\t${description}`);
  terminal.answer(`:${paths}`);
}
