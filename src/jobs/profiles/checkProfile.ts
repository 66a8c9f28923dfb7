import { messageOf } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { commandFile } from '../selection/commandFile.ts';
import { scriptPath } from '../selection/script.ts';
import { hostOfProfile } from './profileConsent.ts';
import type { NamedProfile, ProfileProblem } from './profileFile.ts';

/** What is known about the folder and the user's services. */
export interface ProfileSurroundings {
  /** The selected host; undefined if it is not usable. */
  readonly current: string | undefined;
  readonly hosts: readonly string[];
  /** The machine classes of a host; undefined if it is unknown which there are. */
  readonly classesOf: (host: string) => readonly string[] | undefined;
  /** Whether a file is in the folder. */
  readonly hasFile: (path: string) => Promise<boolean>;
}

/**
 * The problems that would make a submit fail, found by comparing a profile with the folder and the user's services. Variables are not read.
 */
export async function checkProfile(
  { profile, range }: NamedProfile,
  { current, hosts, classesOf, hasFile }: ProfileSurroundings,
): Promise<readonly ProfileProblem[]> {
  const warnings: ProfileProblem[] = [];
  const warn = (field: Parameters<typeof range>[0], message: string): void => {
    warnings.push({ message: printableLine(message), ...range(field) });
  };
  let host = current;
  try {
    if (profile.service !== undefined) host = hostOfProfile(profile.service, hosts);
  } catch (error) {
    host = undefined;
    warn('service', messageOf(error));
  }
  const { machineClass, script, command } = profile;
  const classes = host === undefined ? undefined : classesOf(host);
  if (machineClass !== undefined && !machineClass.includes('${') && classes?.includes(machineClass) === false) {
    warn('machineClass', `Machine class "${machineClass}" does not exist there. Available: ${classes.join(', ')}.`);
  }
  const [field, paths] =
    script === undefined ? (['command', pathsOf(command ?? [])] as const) : (['script', [scriptPath(script)]] as const);
  const [path] = paths;
  const isThere = await Promise.all(paths.map(async (each) => each.includes('${') || hasFile(each)));
  if (path !== undefined && !isThere.includes(true)) warn(field, `${path} does not exist in this folder.`);
  return warnings;
}

/** Where the file of a command may be; empty if it needs none. */
function pathsOf(command: readonly string[]): readonly string[] {
  const file = commandFile(command);
  return file?.isRequired === true ? file.paths : [];
}
