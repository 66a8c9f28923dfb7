import * as z from 'zod';
import { messageOf } from '../../core/errors.ts';
import { tryParseJson } from '../../core/jsonFields.ts';

/** Display names for the fields of a submission. */
const FIELDS: Readonly<Record<string, string>> = {
  max_runtime: 'time limit',
  machine_class: 'machine class',
  script: 'script',
  project: 'project',
  venv: 'Python environment',
  tarball: 'archive',
};
const STATUS = /^HTTP \d+: /;
// `meta.max_runtime: Too big`: the format of services that validate with zod.
const NAMED_FIELD = /^(?:body\.)?(?:meta\.)?([a-z_]+)((?:\.\w+)*): (.+)$/s;
// zod's messages for numbers.
const TOO_BIG = /^Too big: expected \w+ to be <=? ?(\d+)$/;
const TOO_SMALL = /^Too small: expected \w+ to be >=? ?(\d+)$/;

/** The error format of services that validate with pydantic. */
const problemList = z.array(z.looseObject({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string() })).min(1);

/**
 * Why a service refused the input of a request, in sentences: `gpu.example.org refused the time limit: must be at most 86400.`
 * A message in another format is kept unchanged.
 */
export function describeRefusal(error: unknown, service: string): string {
  const text = messageOf(error).replace(STATUS, '').trim();
  const problems = readProblems(text) ?? text.split('; ');
  const isNamed = problems.every((problem) => FIELDS[NAMED_FIELD.exec(problem)?.[1] ?? ''] !== undefined);
  if (!isNamed) return sentence(`${service} refused the request: ${(readProblems(text) ?? [text]).join('; ')}`);
  return problems.map((problem) => sentence(`${service} refused the ${inWords(problem)}`)).join(' ');
}

function readProblems(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  const { data } = problemList.safeParse(tryParseJson(text)); // it may be truncated, or in another format
  return data?.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
}

function inWords(problem: string): string {
  const [, field = '', inside = '', what = ''] = NAMED_FIELD.exec(problem) ?? [];
  const part = inside === '' ? '' : ` (${inside.slice(1)})`;
  const limit = what
    .replace(TOO_BIG, 'must be at most $1')
    .replace(TOO_SMALL, 'must be at least $1')
    .replace(/^it must /, 'must ');
  return `${FIELDS[field]}${part}: ${limit}`;
}

function sentence(text: string): string {
  const first = text.replace(/^the /, 'The ');
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
