import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { printableLine } from '../../core/text/printable.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import {
  describeAccess,
  hostOfProfile,
  includedPath,
  missingConsent,
  needsConsent,
  saveConsent,
  shownIncludes,
} from '../../jobs/profiles/profileConsent.ts';
import { findProfile, readProfiles } from '../../jobs/profiles/profileFile.ts';
import type { JobParameters } from '../../jobs/ledger/parameters.ts';
import { readParameter } from '../sweeps/parameterFlag.ts';
import { type ProfileJob, profileJob } from '../../jobs/profiles/profileJob.ts';
import { resolveHost } from '../../jobs/service/host.ts';
import type { SubmitIntent } from '../../jobs/plan/draft.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import { confirm } from '../command/confirm.ts';
import type { Context } from '../command/context.ts';
import { Session } from '../session/session.ts';
import { readClusterOptions, type SubmitFlags } from './submitFlags.ts';

/** The profile that `--profile` names. @throws AppError as `readProfiles`, `findProfile` and `profileJob` do; `bad-input` for `--set` without it. */
export async function readProfileJob(
  folder: string,
  { profile, script, set = [] }: Pick<SubmitFlags, 'profile' | 'script' | 'set'>,
): Promise<ProfileJob | undefined> {
  if (profile !== undefined) {
    const parameters = Object.fromEntries(set.map(readParameter));
    return profileJob(findProfile(await readProfiles(folder), profile), { script, parameters });
  }
  if (set.length > 0)
    throw new AppError('bad-input', 'Specify the profile whose parameters --set chooses: --profile NAME.');
  return undefined;
}

/** The terms of a submit: the flags, over the values of the profile. Included and excluded paths add up. @param parameters those of one job of a sweep. */
export function submitTerms(
  job: ProfileJob | undefined,
  flags: SubmitFlags,
  env: NodeJS.ProcessEnv,
  parameters: JobParameters | undefined = job?.combinations[0],
): SubmitIntent {
  // The command line has no open file.
  const terms = job?.terms({ env, file: undefined, ...(parameters && { parameters }) });
  return {
    ...terms,
    ...flags,
    include: [...(terms?.include ?? []), ...(flags.include ?? [])],
    exclude: [...(terms?.exclude ?? []), ...(flags.exclude ?? [])],
    venv: terms?.venv,
    secrets: [...new Set([...(terms?.secrets ?? []), ...(flags.secret ?? [])])],
    volumes: [...new Set([...(terms?.volumes ?? []), ...(flags.volume ?? [])])],
    cluster: readClusterOptions(flags.cluster, terms?.cluster),
  };
}

/** The context with the service that the profile names, unless `--remote` names one. @throws AppError `missing` for an unknown service. */
export async function withServiceOf(job: ProfileJob | undefined, context: Context): Promise<Context> {
  if (job?.service === undefined || context.remote !== undefined) return context;
  await using session = new Session(context);
  return { ...context, remote: hostOfProfile(job.service, [session.host, ...session.ledger.hosts()]) };
}

/**
 * Says what the profile sends, and asks once for each folder before it sends variables and included paths, uses secrets or volumes, or chooses the service. Without a terminal,
 * only `--env`, `--include`, `--secret`, `--volume` and `--remote` allow it.
 *
 * @param context the context of the command line, without the service of the profile.
 * @throws AppError `refused` if the user did not agree.
 */
export async function agreeToProfile(
  job: ProfileJob,
  session: Session,
  context: Context,
  { selection, flags }: { readonly selection: Selection; readonly flags: SubmitFlags },
): Promise<void> {
  const { root: folder, findings } = selection;
  const { home, host, hostName } = session;
  const { env, remote, terminal } = context;
  const { env: allowed = [], include: typed = [], secret: given = [], volume: named = [] } = flags;
  const isSwitch = remote === undefined && host !== resolveHost({ env });
  const isTyped = (path: string): boolean =>
    typed.some((one) => pathInside(resolve('/', one), resolve('/', path)) !== undefined);
  const { variables, secrets, volumes } = job;
  const include = shownIncludes(job.include, findings);
  const access = { host, isSwitch, variables, include, secrets, volumes };
  const asked = {
    ...access,
    variables: variables.filter((name) => !allowed.includes(name)),
    include: include.filter((shown) => !isTyped(includedPath(shown))),
    secrets: secrets.filter((name) => !given.includes(name)),
    volumes: volumes.filter((name) => !named.includes(name)),
  };
  const missing = await missingConsent(home, folder, asked);
  if (missing === undefined) {
    if (needsConsent(access)) terminal.note(`  note: ${describeAccess(job, access, hostName)}`);
    return;
  }
  const what = describeAccess(job, missing, hostName);
  if (!(await confirm(`${what} Allow this from now on?`, context))) {
    const allowing = [
      ...(missing.isSwitch ? [`--remote ${host}`] : []),
      ...missing.variables.map((name) => `--env ${name}`),
      ...missing.secrets.map((name) => `--secret ${name}`),
      ...missing.volumes.map((name) => `--volume ${name}`),
      ...missing.include.map((shown) => `--include ${shellWord(printableLine(includedPath(shown)))}`),
    ].join(' ');
    throw new AppError('refused', `${what} You have not allowed this, so nothing was sent. Allow it with ${allowing}`);
  }
  await saveConsent(home, folder, missing);
}
