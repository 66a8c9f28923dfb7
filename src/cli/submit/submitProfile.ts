import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import {
  type GrantedAccess,
  hostOfProfile,
  includedPath,
  type ProfileAccess,
} from '../../jobs/profiles/profileConsent.ts';
import { findProfile, readProfiles } from '../../jobs/profiles/profileFile.ts';
import type { JobParameters } from '../../jobs/ledger/parameters.ts';
import { readParameter } from '../sweeps/parameterFlag.ts';
import { type ProfileJob, profileJob } from '../../jobs/profiles/profileJob.ts';
import { accountLists, JOB_TERMS, termsWith } from '../../remote/protocol/jobTerms.ts';
import type { SubmitIntent } from '../../jobs/plan/draft.ts';
import { confirm } from '../command/confirm.ts';
import type { Context } from '../command/commandContext.ts';
import { Session } from '../command/session.ts';
import { readClusterOptions, readDebugOptions, type SubmitFlags } from './submitFlags.ts';

/** The profile that `--profile` names. @throws AppError as `readProfiles`, `findProfile` and `profileJob` do; `bad-input` for `--set` without it. */
export async function readProfileJob(
  folder: string,
  { profile, script, command, set = [] }: Pick<SubmitFlags, 'profile' | 'script' | 'command' | 'set'>,
): Promise<ProfileJob | undefined> {
  if (profile !== undefined) {
    const parameters = Object.fromEntries(set.map(readParameter));
    return profileJob(findProfile(await readProfiles(folder), profile), { script, command, parameters });
  }
  if (set.length > 0)
    throw new AppError('bad-input', 'Specify the profile whose parameters --set chooses: --profile NAME.');
  return undefined;
}

/**
 * The terms of a job: the flags, over the values of the profile. Included and excluded paths add up.
 *
 * @param given.venv from `--venv`.
 * @throws AppError `bad-input` for a sweep that continues a run; as `terms` of the profile.
 */
export function submitTerms(
  job: ProfileJob | undefined,
  parameters: JobParameters,
  {
    flags,
    venv,
    env,
  }: {
    readonly flags: SubmitFlags;
    readonly venv: Readonly<Record<string, unknown>> | undefined;
    readonly env: NodeJS.ProcessEnv;
  },
): SubmitIntent {
  if (job !== undefined && flags.resume !== undefined && job.combinations.length > 1) {
    const sentence = `--resume continues one run, and profile ${job.name} has ${job.combinations.length} jobs. Nothing was sent.`;
    throw new AppError('bad-input', `${sentence} Choose one with --set.`);
  }
  // The command line has no open file.
  const terms = job?.terms({ env, file: undefined, parameters });
  return {
    ...terms,
    ...flags,
    ...withArguments(flags.script ?? flags.command ?? terms?.script ?? terms?.command, flags.arguments),
    include: [...(terms?.include ?? []), ...(flags.include ?? [])],
    exclude: [...(terms?.exclude ?? []), ...(flags.exclude ?? [])],
    venv: terms?.venv || venv ? { ...terms?.venv, ...venv } : undefined,
    ...accountLists((name) => [...new Set([...(terms?.[name] ?? []), ...(flags[name] ?? [])])]),
    cluster: readClusterOptions(flags.cluster, terms?.cluster),
    debug: readDebugOptions(flags),
  };
}

/** A script line or a command with more arguments. */
function withArguments(
  program: string | readonly string[] | undefined,
  words: readonly string[] = [],
): Pick<SubmitIntent, 'script' | 'command'> {
  if (program === undefined || words.length === 0) return {};
  if (typeof program === 'string') return { script: [program, ...words.map(shellWord)].join(' ') };
  return { command: [...program, ...words] };
}

/** The context with the service that the profile names, unless `--remote` names one. @throws AppError `missing` for an unknown service. */
export async function withServiceOf(job: ProfileJob | undefined, context: Context): Promise<Context> {
  if (job?.service === undefined || context.remote !== undefined) return context;
  await using session = new Session(context);
  return { ...context, remote: hostOfProfile(job.service, [session.host, ...session.ledger.hosts()]) };
}

/** What the flags allow a profile without a question. */
export function grantedBy(flags: SubmitFlags): GrantedAccess {
  return { variables: flags.env ?? [], include: flags.include ?? [], ...accountLists((name) => flags[name]) };
}

/**
 * Asks at the terminal whether a profile may do something. Without one, only `--env`, `--include`, `--secret`, `--volume` and `--remote`
 * allow it.
 *
 * @throws AppError `refused` if the user did not agree.
 */
export async function allowProfile(sentence: string, access: ProfileAccess, context: Context): Promise<boolean> {
  const { host, isSwitch, variables, include } = access;
  if (await confirm(`${sentence} Allow this from now on?`, context)) return true;
  const allowing = [
    ...(isSwitch ? [`--remote ${host}`] : []),
    ...variables.map((name) => `--env ${name}`),
    ...termsWith('ofAccount').flatMap((term) => access[term].map((name) => `--${JOB_TERMS[term].ofAccount} ${name}`)),
    ...include.map((shown) => `--include ${shellWord(printableLine(includedPath(shown)))}`),
  ].join(' ');
  throw new AppError(
    'refused',
    `${sentence} You have not allowed this, so nothing was sent. Allow it with ${allowing}`,
  );
}
