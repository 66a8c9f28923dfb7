import { shellWord } from '../../core/text/shellWord.ts';
import type { SubmitIntent } from '../submit/draft.ts';
import type { NamedProfile } from './profileFile.ts';
import { environmentNames, expandVariables, type VariableValues } from './variables.ts';

/** What a profile asks for, before anything of the user's machine is read. */
export interface ProfileJob {
  readonly name: string;
  /** The name of the service; undefined for the selected one. */
  readonly service: string | undefined;
  /** The environment variables of this machine that it reads, sorted. */
  readonly variables: readonly string[];
  /** Paths to send even if a rule leaves them out. */
  readonly include: readonly string[];
  /** The environment variables that the job gets, sorted. */
  readonly environment: readonly string[];
  /** The terms of the submit. @throws AppError `missing` for a variable without a value. */
  readonly terms: (values: VariableValues) => SubmitIntent;
}

/** @param script replaces the script and the arguments of the profile. */
export function profileJob({ name, profile }: NamedProfile, script?: string): ProfileJob {
  const { script: line, arguments: words = [], environment = {}, machineClass, project, service } = profile;
  const texts = [
    ...(script === undefined ? [line, ...words] : []),
    machineClass,
    project,
    ...Object.values(environment),
  ];
  return {
    name,
    service,
    variables: [...new Set(texts.flatMap((text = '') => environmentNames(text)))].toSorted(),
    include: profile.include ?? [],
    environment: Object.keys(environment).toSorted(),
    terms: (values) => {
      const expand = (text: string): string => expandVariables(text, values);
      const commandLine = (): string =>
        [expandVariables(line, values, shellWord), ...words.map((word) => shellWord(expand(word)))].join(' ');
      const { maxRuntime, include = [], exclude = [], requirements, results: resultsFolder } = profile;
      const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, expand(value)]));
      const venv = {
        ...(requirements !== undefined && { requirements }),
        ...(Object.keys(env).length > 0 && { env }),
      };
      return {
        script: script ?? commandLine(),
        maxRuntime,
        machineClass: machineClass && expand(machineClass),
        project: project && expand(project),
        include,
        exclude,
        ...(Object.keys(venv).length > 0 && { venv }),
        resultsFolder,
      };
    },
  };
}
