import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { debugOptions } from '../../remote/protocol/debugging.ts';
import { JOB_TERMS, termsWith, type TermWith } from '../../remote/protocol/jobTerms.ts';
import { parameterValue } from '../../jobs/ledger/parameters.ts';

const TEXT = l10n.t('Enter text that is not empty.');
const SECONDS = l10n.t('Enter a number of seconds, at least 1.');
const text = z.string(TEXT).min(1, TEXT).optional();
const seconds = z.number(SECONDS).min(1, SECONDS).optional();

type TypeOf<Name extends TermWith<'flag'>> = (typeof JOB_TERMS)[Name]['flag']['type'];
type TermArguments = {
  [Name in TermWith<'flag'> as TypeOf<Name> extends 'list' ? never : Name]: TypeOf<Name> extends 'text'
    ? typeof text
    : typeof seconds;
};

/** The terms that are texts or numbers. */
function termArguments(): TermArguments;
function termArguments(): z.ZodRawShape {
  const typeOf = (name: TermWith<'flag'>) => JOB_TERMS[name].flag.type;
  const names = termsWith('flag').filter((name) => typeOf(name) !== 'list');
  return Object.fromEntries(names.map((name) => [name, typeOf(name) === 'text' ? text : seconds]));
}

/** What a keybinding, a task or another extension can fix in advance. */
const submitArguments = z.object({
  ...termArguments(),
  /** Absolute path of the folder. */
  folder: text,
  /** Absolute path of a file in the folder to run; `script` wins. */
  file: text,
  /** A program and its arguments, to run in place of a script. */
  command: z.array(z.string(), l10n.t('Enter a list of words.')).min(1, TEXT).readonly().optional(),
  /** A job of the folder's `farwharf.json`; the other terms win over its values. */
  profile: text,
  /** The file of the folder that lists the packages to install. */
  packages: text,
  /** With a profile that has a matrix: values of its parameters. */
  parameters: z.record(z.string(), parameterValue, l10n.t('Enter an object.')).optional(),
  /** How the job waits for a debugger. */
  debug: debugOptions.optional(),
  /** Whether to show the preflight even if the user turned it off. */
  lookFirst: z.boolean(l10n.t('Enter true or false.')).optional(),
  /** The flow to run, where the script is a flow file. */
  flow: text,
  /** The name of that flow in trace events, if the file runs it itself. */
  flowName: text,
  /** The shared state that the flow starts with. */
  shared: z.record(z.string(), z.unknown(), l10n.t('Enter an object.')).optional(),
});
export type SubmitArguments = Readonly<z.output<typeof submitArguments>>;

/** A resource of a menu: VS Code passes a `Uri`. */
const resource = z.object({ fsPath: z.string(), scheme: z.string() });

/**
 * Reads the arguments of a submit command: a file from a menu, or an object such as `{ "script": "train.py --epochs 3" }`.
 *
 * @throws AppError `bad-input` that names the wrong field.
 */
export function readSubmitArguments(argument: unknown): SubmitArguments {
  if (typeof argument !== 'object' || argument === null) return {};
  const file = resource.safeParse(argument).data?.fsPath;
  if (file !== undefined) return { file };
  const { data, error } = submitArguments.safeParse(argument);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw new AppError(
    'bad-input',
    l10n.t('Command argument "{0}" is not valid. {1}', issue?.path.join('.') ?? '', issue?.message ?? ''),
  );
}
