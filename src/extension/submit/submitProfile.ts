import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../core/files/pathInside.ts';
import {
  describeAccess,
  hostOfProfile,
  missingConsent,
  needsConsent,
  saveConsent,
  shownIncludes,
} from '../../jobs/profiles/profileConsent.ts';
import { findProfile, type NamedProfile, PROFILE_FILE, readProfiles } from '../../jobs/profiles/profileFile.ts';
import { type ProfileJob, profileJob } from '../../jobs/profiles/profileJob.ts';
import type { JobParameters } from '../../jobs/ledger/parameters.ts';
import type { SelectedFolder } from '../../jobs/selection/selectedFolder.ts';
import type { SubmitIntent } from '../../jobs/plan/draft.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { askModal, pickRow } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import { hostLabel } from '../ui/words.ts';
import type { SubmitArguments } from './submitArguments.ts';

/** A profile of a folder, ready to be submitted once the user has agreed to what it sends. */
export interface UsedProfile {
  readonly job: ProfileJob;
  readonly host: string;
  /** Whether the profile chose the host. */
  readonly isSwitch: boolean;
  /** Of the first job of its matrix. */
  readonly terms: SubmitIntent;
  readonly termsOf: (parameters: JobParameters) => SubmitIntent;
}

/**
 * Reads the profile that the arguments name.
 *
 * @param wanted the host that the user chose instead of that of the profile.
 * @throws AppError as `readProfiles` and `findProfile` do; `missing` for an unknown service or a variable without a value.
 */
export async function useProfile(
  { hosts, ledger }: SubmitDeps,
  folder: string,
  { profile: name = '', script, parameters }: SubmitArguments,
  wanted?: string,
): Promise<UsedProfile> {
  const job = profileJob(findProfile(await readProfiles(folder), name), { script, ...(parameters && { parameters }) });
  const current = wanted ?? hosts.current();
  const isFree = wanted === undefined && job.service !== undefined;
  const host = isFree ? hostOfProfile(job.service, [current, ...(await ledger.hosts())]) : current;
  const open = vscode.window.activeTextEditor?.document.uri;
  const file = open?.scheme === 'file' ? pathInside(folder, open.fsPath) : undefined;
  const termsOf = (each: JobParameters): SubmitIntent => job.terms({ env: process.env, file, parameters: each });
  return { job, host, isSwitch: host !== current, terms: termsOf(job.combinations[0] ?? {}), termsOf };
}

/**
 * Asks once for each folder before a profile sends variables and included paths or chooses the service.
 *
 * @returns what the user should know, one sentence each; undefined if the user did not agree.
 */
export async function agreeToProfile(
  { home }: SubmitDeps,
  { job, host, isSwitch }: UsedProfile,
  { root: folder, findings }: Pick<SelectedFolder, 'root' | 'findings'>,
): Promise<readonly string[] | undefined> {
  const { variables, secrets, volumes } = job;
  const include = shownIncludes(job.include, findings);
  const access = { host, isSwitch, variables, include, secrets, volumes };
  const missing = await missingConsent(home, folder, access);
  if (missing !== undefined) {
    const detail = l10n.t(
      '{0} in this folder asks for this. Farwharf remembers that you allowed it for this folder.',
      PROFILE_FILE,
    );
    const allow = l10n.t('Allow');
    const question = describeAccess(job, missing, hostLabel(host));
    if ((await askModal(question, { detail, isWarning: true }, allow)) !== allow) return undefined;
    await saveConsent(home, folder, missing);
  }
  const { environment } = job;
  return [
    ...(needsConsent(access) ? [describeAccess(job, access, hostLabel(host))] : []),
    ...(environment.length > 0 ? [l10n.t('The job gets the variables {0}.', environment.join(', '))] : []),
  ];
}

/** The profile that the user picks; undefined if none. @throws AppError as `readProfiles` does. */
export async function pickProfile(folder: vscode.WorkspaceFolder): Promise<string | undefined> {
  const row = ({ name, profile: { script, machineClass } }: NamedProfile) => ({
    label: withoutIcons(name),
    description: machineClass === undefined ? withoutIcons(script) : label`${script} · ${machineClass}`,
    name,
  });
  const title = l10n.t('Submit a profile of {0}', folder.name);
  const chosen = await pickRow((await readProfiles(folder.uri.fsPath)).map(row), {
    title,
    placeHolder: l10n.t('Select a job of {0}.', PROFILE_FILE),
    matchOnDescription: true,
  });
  return chosen?.name;
}
