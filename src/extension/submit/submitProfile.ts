import { commandTitle } from '../../remote/protocol/command.ts';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../core/files/pathInside.ts';
import { hostOfProfile } from '../../jobs/profiles/profileConsent.ts';
import { findProfile, type NamedProfile, PROFILE_FILE, readProfiles } from '../../jobs/profiles/profileFile.ts';
import { type ProfileJob, profileJob } from '../../jobs/profiles/profileJob.ts';
import type { VariableValues } from '../../jobs/profiles/variables.ts';
import type { SubmitDeps } from './submitDeps.ts';
import { askModal, pickRow } from '../ui/show.ts';
import { label, withoutIcons } from '../ui/labels.ts';
import type { SubmitArguments } from './submitArguments.ts';

/** A profile of a folder, ready to be submitted once the user has agreed to what it sends. */
export interface UsedProfile {
  readonly job: ProfileJob;
  readonly host: string;
  /** Whether the profile chose the host. */
  readonly isSwitch: boolean;
  /** Of its variables. */
  readonly values: VariableValues;
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
  { profile: name = '', script, command, parameters }: SubmitArguments,
  wanted?: string,
): Promise<UsedProfile> {
  const job = profileJob(findProfile(await readProfiles(folder), name), {
    script,
    command,
    ...(parameters && { parameters }),
  });
  const current = wanted ?? hosts.current();
  const isFree = wanted === undefined && job.service !== undefined;
  const host = isFree ? hostOfProfile(job.service, [current, ...(await ledger.hosts())]) : current;
  const open = vscode.window.activeTextEditor?.document.uri;
  const file = open?.scheme === 'file' ? pathInside(folder, open.fsPath) : undefined;
  return { job, host, isSwitch: host !== current, values: { env: process.env, file } };
}

/** Asks whether the profiles of a folder may do something. */
export async function confirmProfile(sentence: string): Promise<boolean> {
  const detail = l10n.t(
    '{0} in this folder asks for this. Farwharf remembers that you allowed it for this folder.',
    PROFILE_FILE,
  );
  const allow = l10n.t('Allow');
  return (await askModal(sentence, { detail, isWarning: true }, allow)) === allow;
}

/** The variables that the profile gives the job, in a sentence; empty if it gives none. */
export function describeEnvironment(job: ProfileJob | undefined): readonly string[] {
  const { environment = [] } = job ?? {};
  return environment.length === 0 ? [] : [l10n.t('The job gets the variables {0}.', environment.join(', '))];
}

/** The profile that the user picks; undefined if none. @throws AppError as `readProfiles` does. */
export async function pickProfile(folder: vscode.WorkspaceFolder): Promise<string | undefined> {
  const row = ({ name, profile: { script, command = [], machineClass } }: NamedProfile) => {
    const runs = script ?? commandTitle(command);
    return {
      label: withoutIcons(name),
      description: machineClass === undefined ? withoutIcons(runs) : label`${runs} · ${machineClass}`,
      name,
    };
  };
  const title = l10n.t('Submit a profile of {0}', folder.name);
  const chosen = await pickRow((await readProfiles(folder.uri.fsPath)).map(row), {
    title,
    placeHolder: l10n.t('Select a job of {0}.', PROFILE_FILE),
    matchOnDescription: true,
  });
  return chosen?.name;
}
