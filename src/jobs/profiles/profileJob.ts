import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { nearest } from '../../core/text/similar.ts';
import { accountLists, type AccountLists, termsWith } from '../../remote/protocol/jobTerms.ts';
import type { SubmitIntent } from '../plan/draft.ts';
import type { SweepLimits } from '../plan/jobPlans.ts';
import type { JobParameters } from '../ledger/parameters.ts';
import { combinations } from './matrix.ts';
import type { NamedProfile } from './profileFile.ts';
import { environmentNames, expandVariables, termTexts, type VariableValues } from './variables.ts';

/** What a profile asks for, before anything is read from the user's machine. */
export interface ProfileJob extends AccountLists {
  readonly name: string;
  /** The name of the service; undefined for the selected one. */
  readonly service: string | undefined;
  /** The environment variables of this machine that it reads, sorted. */
  readonly variables: readonly string[];
  /** Paths to send even if a rule leaves them out, such as secrets. */
  readonly include: readonly string[];
  /** The environment variables that the job gets, sorted. */
  readonly environment: readonly string[];
  /** The parameters of each job: those of every combination of the matrix, or of one job without any. */
  readonly combinations: readonly JobParameters[];
  readonly limits: SweepLimits;
  /** The terms of the submit. @throws AppError `missing` for a variable without a value. */
  readonly terms: (values: VariableValues) => SubmitIntent;
}

/** The user's changes to the values of a profile. */
export interface ProfileChanges {
  /** Replaces the script and the arguments, or the command. */
  readonly script?: string | undefined;
  /** The same. */
  readonly command?: readonly string[] | undefined;
  /** Parameters that have one value instead of those of the matrix. */
  readonly parameters?: JobParameters;
}

/** The jobs of a profile. @throws AppError `bad-input` for a parameter that its matrix does not have. */
export function profileJob({ name, profile }: NamedProfile, changes: ProfileChanges = {}): ProfileJob {
  const { parameters = {} } = changes;
  const matrix = { ...profile.matrix };
  for (const [parameter, value] of Object.entries(parameters)) {
    if (!Object.hasOwn(matrix, parameter)) throw unknownParameter(name, parameter, Object.keys(matrix));
    matrix[parameter] = [value];
  }
  const { environment = {}, service } = profile;
  const isReplaced = changes.script !== undefined || changes.command !== undefined;
  const { script: line = '', arguments: words = [], command } = profile;
  const texts = [
    ...(isReplaced ? [] : (command ?? [line, ...words])),
    ...termTexts(profile).map(([, text]) => text),
    ...Object.values(environment),
  ];
  return {
    name,
    service,
    variables: [...new Set(texts.flatMap(environmentNames))].toSorted(),
    include: profile.include ?? [],
    ...accountLists((term) => profile[term]),
    environment: Object.keys(environment).toSorted(),
    combinations: combinations(matrix),
    limits: { concurrency: profile.concurrency, maxCost: profile.maxCost },
    terms: (values) => {
      const expand = (text: string): string => expandVariables(text, values);
      const commandLine = (): string =>
        [expandVariables(line, values, shellWord), ...words.map((word) => shellWord(expand(word)))].join(' ');
      const { include = [], exclude = [], modules, container, requirements, results: resultsFolder } = profile;
      const terms = termsWith('profile').map((term) => [term, profile[term]] as const);
      const expanded = termTexts(profile).map(([term, text]) => [term, expand(text)] as const);
      const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, expand(value)]));
      const venv = {
        ...(requirements !== undefined && { requirements }),
        ...(Object.keys(env).length > 0 && { env }),
      };
      return {
        ...Object.fromEntries(terms.filter(([, value]) => value !== undefined)),
        ...Object.fromEntries(expanded),
        ...(isReplaced
          ? changedProgram(changes)
          : command
            ? { command: command.map(expand) }
            : { script: commandLine() }),
        include,
        exclude,
        ...(Object.keys(venv).length > 0 && { venv }),
        ...((modules !== undefined || container !== undefined) && {
          cluster: { ...(modules && { modules }), ...(container !== undefined && { container }) },
        }),
        resultsFolder,
      };
    },
  };
}

function changedProgram({ script, command }: ProfileChanges): Pick<SubmitIntent, 'script' | 'command'> {
  return command === undefined ? { script } : { command };
}

function unknownParameter(profile: string, name: string, parameters: readonly string[]): AppError {
  const guess = nearest(name, parameters);
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  const names = parameters.length === 0 ? 'It has no matrix.' : `Its matrix has ${parameters.join(', ')}.`;
  const sentence = `Profile ${profile} has no parameter ${name}, so nothing was sent.${hint} ${names}`;
  return new AppError('bad-input', printableLine(sentence));
}
