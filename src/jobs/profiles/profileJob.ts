import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import { nearest } from '../../core/text/similar.ts';
import { accountLists, type AccountLists, termsWith } from '../../remote/protocol/jobTerms.ts';
import { isNotebookFile } from '../../workspace/scripts/scriptKinds.ts';
import type { SubmitIntent } from '../plan/draft.ts';
import type { SweepLimits } from '../plan/jobPlans.ts';
import type { JobParameters } from '../ledger/parameters.ts';
import { scriptPath } from '../selection/script.ts';
import { combinations } from './matrix.ts';
import { parameterArguments, parameterTexts } from './notebookParameters.ts';
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
  /** Values of parameters of the matrix, each in place of all its own, and of the notebook, as its arguments have them. */
  readonly parameters?: JobParameters;
}

/** The jobs of a profile. @throws AppError `bad-input` for a parameter that it does not have. */
export function profileJob({ name, profile }: NamedProfile, changes: ProfileChanges = {}): ProfileJob {
  const { environment = {}, service } = profile;
  const isReplaced = changes.script !== undefined || changes.command !== undefined;
  const matrix = { ...profile.matrix };
  const ofNotebook = isReplaced ? {} : (profile.parameters ?? {});
  const chosen = new Map<string, string>();
  for (const [parameter, value] of Object.entries(changes.parameters ?? {})) {
    const values = Object.hasOwn(matrix, parameter) ? matrix[parameter] : undefined;
    if (values !== undefined) {
      // For a notebook, the text "1" is not the number.
      matrix[parameter] = [values.every((each) => typeof each === 'string') ? String(value) : value];
    } else if (Object.hasOwn(ofNotebook, parameter)) chosen.set(parameter, `${parameter}=${value}`);
    else throw unknownParameter(name, parameter, Object.keys({ ...matrix, ...ofNotebook }));
  }
  const parameters = Object.fromEntries(Object.entries(ofNotebook).filter(([parameter]) => !chosen.has(parameter)));
  const { script: line = '', arguments: words = [], command } = profile;
  const texts = [
    ...(isReplaced ? [] : (command ?? [line, ...words])),
    ...parameterTexts(parameters).map(([, text]) => text),
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
      const commandLine = (): string => {
        const script = expandVariables(line, values, shellWord);
        if (profile.parameters !== undefined && !isNotebookFile(scriptPath(script))) throw noNotebook(name, script);
        const args = [...words.map(expand), ...parameterArguments(parameters, values), ...chosen.values()];
        return [script, ...args.map(shellWord)].join(' ');
      };
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

function noNotebook(profile: string, script: string): AppError {
  const sentence = `Profile ${profile} has parameters for a notebook, and ${scriptPath(script)} is not one, so nothing was sent. Specify a notebook, or remove "parameters".`;
  return new AppError('bad-input', printableLine(sentence));
}

function unknownParameter(profile: string, name: string, parameters: readonly string[]): AppError {
  const guess = nearest(name, parameters);
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  const names = parameters.length === 0 ? 'It has none.' : `It has ${parameters.join(', ')}.`;
  const sentence = `Profile ${profile} has no parameter ${name}, so nothing was sent.${hint} ${names}`;
  return new AppError('bad-input', printableLine(sentence));
}
