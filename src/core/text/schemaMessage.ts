import type * as z from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/**
 * What a value must be, to be appended to its name: `must be a whole number`. An error map for zod, whose own messages are about types and
 * for programmers; undefined where zod's message is good enough. Messages in a schema take precedence.
 */
export function schemaMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type') {
    const kind = KINDS[issue.expected];
    if (issue.input === undefined) return 'is missing';
    return kind === undefined ? undefined : `must be ${kind}`;
  }
  if (issue.code === 'invalid_value') return `must be ${inWords(issue.values.map(asInJson))}`;
  if (issue.code === 'too_big') {
    if (issue.maximum === Number.MAX_SAFE_INTEGER) return 'is too large';
    return sizeMessage(issue.origin, issue.inclusive === false ? 'below' : 'at most', issue.maximum);
  }
  if (issue.code !== 'too_small') return undefined;
  if (issue.minimum === 1 && issue.origin === 'string') return 'must not be empty';
  return sizeMessage(issue.origin, issue.inclusive === false ? 'above' : 'at least', issue.minimum);
}

function asInJson(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/**
 * What is wrong at each location. Of several issues at one, only the last is listed, because the others have the same cause. `place` names
 * the location for the path of an issue.
 */
export function schemaProblems(
  { issues }: Pick<z.ZodError, 'issues'>,
  place: (path: string) => string = (path) => path,
): string {
  const problems = new Map<string, string>();
  for (const { path, message } of issues) {
    const name = place(path.join('.'));
    problems.set(name, name === '' ? message : `${name}: ${message}`);
  }
  return [...problems.values()].join('; ');
}

function sizeMessage(origin: string, relation: string, limit: number | bigint): string | undefined {
  switch (origin) {
    case 'number':
    case 'int':
      return `must be ${relation} ${limit}`;
    case 'string':
      return `must have ${relation} ${limit} characters`;
    case 'array':
      return `must have ${relation} ${limit} ${limit === 1 ? 'entry' : 'entries'}`;
    default:
      return undefined;
  }
}

function inWords(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
