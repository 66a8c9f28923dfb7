import * as z from 'zod';
import { commandWords } from './command.ts';
import { type DebugOptions, debugOptions } from './debugging.ts';
import { MAX_JOB_SECRETS, secretName } from './secret.ts';
import {
  type ClusterOptions,
  clusterOptions,
  MAX_RUNTIME_REFUSAL,
  MAX_RUNTIME_SECONDS,
  singleLine,
  virtualEnvironment,
} from './termValues.ts';
import { MAX_JOB_VOLUMES, volumeName } from './volume.ts';

/** The time limit of a job in seconds, where nobody states one. */
export const DEFAULT_MAX_RUNTIME = 3600;

export interface JobSubmission {
  /** A file of the folder with its parameters, as in a terminal. With a command, only its title, which is not sent. */
  readonly script?: string;
  /** What runs in place of a script: a program and its arguments, without a shell, for services with the feature `command`. */
  readonly command?: readonly string[];
  /** Seconds; truncated to an integer. */
  readonly maxRuntime: number;
  readonly project?: string;
  /** The Python environment of the job, as the service describes it. */
  readonly venv?: Readonly<Record<string, unknown>>;
  readonly machineClass?: string;
  /** Names of secrets of the account, which the job gets as variables, for services with the feature `secrets`. */
  readonly secrets?: readonly string[];
  /** Names of volumes of the account, whose folders the job has. */
  readonly volumes?: readonly string[];
  /** What the job asks of the cluster of the service. */
  readonly cluster?: ClusterOptions;
  /** How the job waits for a debugger where it fails, for services with the feature `debug`. */
  readonly debug?: DebugOptions;
}

/** A term of a job, with all of its spellings. */
export interface JobTerm {
  /** What the service accepts in `meta`, under the name of the term in snake case. */
  readonly accepted: z.ZodType;
  /** What a ledger stores, without the service's limits, which other versions do not share. */
  readonly stored: z.ZodType;
  /** Whether the service passes it on to what runs the job. */
  readonly isForRunner?: true;
  /** Whether the next submit of the folder begins with it. */
  readonly isRemembered?: true;
  /** A flag of `farwharf submit`. A list is added to that of a profile. Text and numbers can also be arguments of the editor's commands. */
  readonly flag?: {
    readonly type: 'text' | 'number' | 'list';
    readonly spelling: string;
    readonly description: string;
  };
  /** The description of the field of profiles with the name of the term. */
  readonly profile?: string;
  /** Whether that field is a text with variables such as `${env:NAME}`; otherwise it is what the service accepts. */
  readonly hasVariables?: true;
  /** An option of batch scripts. What is expected is a sentence about other values; without it, they are ignored in silence. */
  readonly batch?: { readonly option: string; readonly type: 'text' | 'time'; readonly expected?: string };
  /** How it is described to agents, if they may state it. */
  readonly agents?: string;
  /** What an entry of the list is called, if it belongs to the account: a profile may use it only after the user agreed. */
  readonly ofAccount?: string;
}

const text = z.string().nullable().default(null);
const list = z.array(z.string()).readonly().default([]);

/**
 * The terms of a job. Wire, client, drafts, flags, profiles, batch scripts and records are derived from this table. What consists of several
 * settings (`venv`, `cluster`) is put together by those who read it.
 *
 * The order is that of the fields of `meta`.
 */
export const JOB_TERMS = {
  script: {
    accepted: singleLine
      .min(1)
      .max(4096)
      .describe('a file of the folder with its arguments, as in a terminal')
      .optional(),
    stored: z.string(),
    agents: 'file to run, relative to the folder, with its arguments, such as "train.py --epochs 3"',
    flag: {
      type: 'text',
      spelling: '--script <file>',
      description: 'file to run, with its arguments, such as "train.py --epochs 3"',
    },
  },
  command: {
    accepted: commandWords
      .describe(
        'what runs in place of a script: a program and its arguments, without a shell, for services with the feature `command`',
      )
      .optional(),
    stored: z.array(z.string()).readonly().nullable().default(null),
    agents: 'in place of script: a program and its arguments, without a shell: ["make", "all"]',
  },
  maxRuntime: {
    accepted: z.int().min(1, 'must be at least 1 second').max(MAX_RUNTIME_SECONDS, MAX_RUNTIME_REFUSAL),
    stored: z.number(),
    isRemembered: true,
    agents: 'time limit in seconds, which bounds the price; default 3600',
    flag: {
      type: 'number',
      spelling: '--max-runtime <seconds>',
      description: `time limit of the job (default: ${DEFAULT_MAX_RUNTIME})`,
    },
    profile: 'The time limit in seconds. The service stops the job at its limit, which also limits the cost.',
    batch: { option: 'time', type: 'time', expected: 'Every job has a time limit such as 1:30:00.' },
  },
  project: {
    accepted: singleLine.max(200).optional(),
    stored: text,
    isRemembered: true,
    flag: { type: 'text', spelling: '--project <name>', description: 'project to charge the job to' },
    profile: 'The project to charge the job to.',
    hasVariables: true,
    batch: { option: 'account', type: 'text' },
  },
  venv: {
    accepted: virtualEnvironment.optional(),
    stored: z.record(z.string(), z.unknown()).nullable().default(null),
  },
  machineClass: {
    accepted: singleLine.optional(),
    stored: text,
    isRemembered: true,
    agents: 'default: the first in the price list',
    flag: {
      type: 'text',
      spelling: '--machine-class <name>',
      description: "machine class from the service's rate card (see farwharf me)",
    },
    profile: "The machine class, from the service's rate card.",
    hasVariables: true,
  },
  secrets: {
    accepted: z
      .array(secretName)
      .max(MAX_JOB_SECRETS, `must be at most ${MAX_JOB_SECRETS} names`)
      .describe('names of secrets of the account, which become variables of the job')
      .optional(),
    stored: list,
    isForRunner: true,
    isRemembered: true,
    ofAccount: 'secret',
    flag: {
      type: 'list',
      spelling: '--secret <name>',
      description: 'give the job this secret of your account as a variable (see farwharf secret)',
    },
    profile: 'Secrets of your account that the job gets as variables. Farwharf asks once before it uses them.',
  },
  volumes: {
    accepted: z
      .array(volumeName)
      .max(MAX_JOB_VOLUMES, `must be at most ${MAX_JOB_VOLUMES} names`)
      .describe(
        'names of volumes of the account (`volumes` of `GET /v1/me`), whose folders the job has as `FARWHARF_VOLUME_NAME`',
      )
      .optional(),
    stored: list,
    isForRunner: true,
    isRemembered: true,
    ofAccount: 'volume',
    flag: {
      type: 'list',
      spelling: '--volume <name>',
      description: 'give the job this volume of your account (see farwharf me)',
    },
    profile: 'Volumes of your account that the job can use. Farwharf asks once before it uses them.',
  },
  cluster: {
    accepted: clusterOptions.optional(),
    stored: clusterOptions.nullable().default(null),
    isForRunner: true,
  },
  debug: {
    accepted: debugOptions
      .describe('the job waits for a debugger where it fails, for services with the feature `debug`')
      .optional(),
    stored: debugOptions.nullable().default(null),
    isForRunner: true,
  },
} as const satisfies Readonly<Record<keyof JobSubmission, JobTerm>>;

type Table = typeof JOB_TERMS;
export type JobTermName = keyof JobSubmission;
/** The names of the terms with this property. */
export type TermWith<Property extends keyof JobTerm> = {
  [Name in JobTermName]: Table[Name] extends Readonly<Record<Property, unknown>> ? Name : never;
}[JobTermName];
/** Lists of what belongs to the account. */
export type AccountLists = { readonly [Name in TermWith<'ofAccount'>]: readonly string[] };
type MaybeTerms = { readonly [Name in JobTermName]?: JobSubmission[Name] | null | undefined };
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

/** The names of the terms with a property, in the order of the table. */
export function termsWith<Property extends keyof JobTerm>(property: Property): readonly TermWith<Property>[];
export function termsWith(property: string): readonly string[] {
  return Object.entries(JOB_TERMS).flatMap(([name, term]) => (property in term ? [name] : []));
}

/** The list of each term whose entries belong to the account. */
export function accountLists(listOf: (name: TermWith<'ofAccount'>) => readonly string[] | undefined): AccountLists;
export function accountLists(listOf: (name: TermWith<'ofAccount'>) => readonly string[] | undefined): object {
  return Object.fromEntries(termsWith('ofAccount').map((name) => [name, listOf(name) ?? []]));
}

/** What the first of the sources that has it says of each term. What is empty is left out. */
export function statedTerms(...sources: readonly MaybeTerms[]): Partial<JobSubmission>;
export function statedTerms(...sources: readonly MaybeTerms[]): object {
  const values = termsWith('accepted').map((name) => {
    const source = sources.find((one) => one[name] !== undefined && one[name] !== null);
    return [name, source?.[name]] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === '';
}

/** The field of `meta` for a term. */
export function wireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The form field `meta` of `POST /v1/jobs` (specification, section 2.2), as the service accepts it. */
export const submission = z
  .object(acceptedShape())
  .refine(({ script, command }) => (script === undefined) !== (command === undefined), {
    path: ['script'],
    message: 'must be there, or "command" in its place, and not both',
  });
export type Submission = z.infer<typeof submission>;

/** The same as a client may send it; `venv` has another structure on other services. */
export type SubmissionMeta = Omit<z.input<typeof submission>, 'venv'> & { venv?: Readonly<Record<string, unknown>> };

type AgentTerms = { [Name in TermWith<'agents'> as SnakeCase<Name>]: z.ZodOptional<Table[Name]['accepted']> };

/** The terms that agents may state, as fields with the names of `meta`. */
export function agentTerms(): AgentTerms;
export function agentTerms(): z.ZodRawShape {
  const fields = termsWith('agents').map((name) => {
    const { accepted, agents } = JOB_TERMS[name];
    return [wireName(name), accepted.optional().describe(agents)] as const;
  });
  return Object.fromEntries(fields);
}

/** What an agent states in these fields. */
export function statedByAgent(input: object): Partial<Pick<JobSubmission, TermWith<'agents'>>> {
  return statedTerms(Object.fromEntries(termsWith('agents').map((name) => [name, Reflect.get(input, wireName(name))])));
}

function acceptedShape(): { [Name in JobTermName as SnakeCase<Name>]: Table[Name]['accepted'] };
function acceptedShape(): z.ZodRawShape {
  return Object.fromEntries(Object.entries(JOB_TERMS).map(([name, { accepted }]) => [wireName(name), accepted]));
}
