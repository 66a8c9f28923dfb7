import * as z from 'zod';
import type { JobParameters } from '../ledger/parameters.ts';
import { isNotebookFile } from '../../workspace/scripts/scriptKinds.ts';
import { scriptPath } from '../selection/script.ts';
import { type NotebookParameters, parameterTexts } from './notebookParameters.ts';
import { parameterNames, type TermTexts, termTexts } from './variables.ts';

/** The most jobs that a sweep may have. */
export const MOST_SWEEP_JOBS = 500;
const MOST_PARAMETERS = 20;
const NAME = /^[A-Za-z]\w{0,49}$/;

const value = z.union(
  [
    z
      .string()
      .max(1_000)
      .regex(/^[^\r\n\0]*$/),
    z.number(),
    z.boolean(),
  ],
  'Must be one line of text, a number, true or false.',
);

/** The parameters of a sweep and their values. */
export const matrix = z
  .record(
    z.string().regex(NAME, 'Must consist of letters, digits and "_".'),
    z.array(value).min(1).max(MOST_SWEEP_JOBS),
  )
  .describe(
    'Parameters with their values. One job is submitted for each combination; "${matrix:NAME}" is the value of a parameter.',
  );
export type Matrix = Readonly<z.output<typeof matrix>>;

interface MatrixProfile extends TermTexts {
  readonly script?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly arguments?: readonly string[] | undefined;
  readonly parameters?: NotebookParameters | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly matrix?: Matrix | undefined;
  readonly concurrency?: number | undefined;
  readonly maxCost?: number | undefined;
}

/** Reports a matrix that is too large, and parameters that are read but not declared or declared but not read. */
export function checkMatrix(profile: MatrixProfile, context: z.RefinementCtx): void {
  const report = (path: PropertyKey[], message: string): void => context.addIssue({ code: 'custom', path, message });
  const { script, command = [], arguments: words = [], parameters, environment = {} } = profile;
  if (script === undefined && profile.command === undefined) report([], 'Must have "script" or "command".');
  if (script !== undefined && profile.command !== undefined) report(['command'], 'Cannot be used with "script".');
  if (script === undefined && profile.arguments !== undefined) report(['arguments'], 'Has no effect without "script".');
  if (parameters !== undefined && (script === undefined || !mayBeNotebook(script))) {
    report(['parameters'], 'Needs a notebook as "script". Pass values to other scripts with "arguments".');
  }
  const texts: readonly (readonly [PropertyKey[], string])[] = [
    ...(script === undefined ? [] : [[['script'], script] satisfies [PropertyKey[], string]]),
    ...command.map((word, index): [PropertyKey[], string] => [['command', index], word]),
    ...words.map((word, index): [PropertyKey[], string] => [['arguments', index], word]),
    ...parameterTexts(parameters ?? {}).map(([path, text]): [PropertyKey[], string] => [['parameters', ...path], text]),
    ...termTexts(profile).map(([name, text]): [PropertyKey[], string] => [[name], text]),
    ...Object.entries(environment).map(([name, text]): [PropertyKey[], string] => [['environment', name], text]),
  ];
  const declared = new Set(Object.keys(profile.matrix ?? {}));
  const read = new Set<string>();
  for (const [path, text] of texts) {
    for (const name of parameterNames(text)) {
      read.add(name);
      if (!declared.has(name)) report(path, `"matrix" has no parameter ${name}.`);
    }
  }
  for (const name of declared) {
    if (!read.has(name)) report(['matrix', name], `Not used, so its jobs would be the same. Write \${matrix:${name}}.`);
  }
  if (profile.matrix === undefined) {
    for (const field of ['concurrency', 'maxCost'] as const) {
      if (profile[field] !== undefined) report([field], 'Has no effect without "matrix".');
    }
    return;
  }
  if (declared.size === 0 || declared.size > MOST_PARAMETERS) {
    report(['matrix'], `Must have 1 to ${MOST_PARAMETERS} parameters.`);
  }
  const count = Object.values(profile.matrix).reduce((product, values) => product * values.length, 1);
  if (count > MOST_SWEEP_JOBS) {
    report(['matrix'], `Has ${count.toLocaleString('en-US')} combinations. Must be at most ${MOST_SWEEP_JOBS}.`);
  }
}

/** Whether a script is a notebook, as far as that is known before its variables are read. */
function mayBeNotebook(script: string): boolean {
  const path = scriptPath(script);
  return isNotebookFile(path) || path.includes('${');
}

/** Every combination of the values, the last parameter changing first. */
export function combinations(of: Matrix): readonly JobParameters[] {
  return Object.entries(of).reduce<readonly JobParameters[]>(
    (known, [name, values]) => known.flatMap((one) => values.map((each) => ({ ...one, [name]: each }))),
    [{}],
  );
}
