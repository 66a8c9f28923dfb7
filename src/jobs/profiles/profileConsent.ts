import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { writeAtomically } from '../../core/files/atomicFile.ts';
import { makeFolder } from '../../core/files/makeFolder.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { printableLine } from '../../core/text/printable.ts';
import { nearest } from '../../core/text/similar.ts';
import { AppError } from '../../core/errors.ts';
import { accountLists, type AccountLists, JOB_TERMS, termsWith } from '../../remote/protocol/jobTerms.ts';
import type { Finding } from '../../workspace/files/selectedFile.ts';
import { LOCAL_HOST } from '../service/host.ts';
import type { ProfileJob } from './profileJob.ts';

/**
 * What the profiles of a folder may do only after the user has agreed: read variables of this machine, send files that rules leave out, use
 * secrets and volumes, and choose the service.
 */
export interface ProfileAccess extends AccountLists, Pick<ProfileJob, 'variables' | 'include'> {
  /** The host that gets the job. */
  readonly host: string;
  /** Whether the profile chose the host. */
  readonly isSwitch: boolean;
}

const FILE = 'profileConsents.json';
const MOST_FOLDERS = 1_000;
/** By folder: hosts that its profiles may choose, `NAME host` for variables, `./PATH host` for included paths that they may send to a host (`./PATH -> TARGET host` for links), and `secret:NAME host` or `volume:NAME host`. */
const consents = z.record(z.string(), z.array(z.string()));

/** The part of the access to which the user has not agreed for this folder; undefined if all of it was agreed to. */
export async function missingConsent(
  home: string,
  folder: string,
  access: ProfileAccess,
): Promise<ProfileAccess | undefined> {
  const agreed = new Set((await readConsents(home))[folder]);
  const { host } = access;
  const isSwitch = access.isSwitch && !agreed.has(host);
  const variables = access.variables.filter((name) => !agreed.has(`${name} ${host}`));
  const include = access.include.filter((path) => !agreed.has(`./${path} ${host}`));
  const lists = accountLists((term) =>
    access[term].filter((name) => !agreed.has(`${JOB_TERMS[term].ofAccount}:${name} ${host}`)),
  );
  const missing = { host, isSwitch, variables, include, ...lists };
  return needsConsent(missing) ? missing : undefined;
}

const ARROW = ' -> ';

/**
 * What a profile includes, as the user is asked about it: a link together with what it leads to, because anyone who writes the profile also
 * chooses that, and may change it.
 */
export function shownIncludes(include: readonly string[], findings: readonly Finding[]): readonly string[] {
  const links = findings.filter(({ type }) => type === 'link');
  const paths = new Set(links.map(({ path }) => path));
  const shown = links.map(({ path, target = '' }) => `${path}${ARROW}${target}`);
  return [...include.filter((text) => !paths.has(text.replace(/^(?:\.\/)+|\/+$/g, ''))), ...shown];
}

/** The path or pattern of a text of `shownIncludes`. */
export function includedPath(shown: string): string {
  return shown.split(ARROW)[0] ?? shown;
}

/** What flags of a command line allow by themselves. */
export type GrantedAccess = Partial<AccountLists & Pick<ProfileAccess, 'variables' | 'include'>>;

/** The part of an access that is not granted. */
export function withoutGranted(access: ProfileAccess, granted: GrantedAccess = {}): ProfileAccess {
  const { variables = [], include = [] } = granted;
  const isGranted = (path: string): boolean =>
    include.some((one) => pathInside(resolve('/', one), resolve('/', path)) !== undefined);
  return {
    ...access,
    variables: access.variables.filter((name) => !variables.includes(name)),
    include: access.include.filter((shown) => !isGranted(includedPath(shown))),
    ...accountLists((term) => access[term].filter((name) => granted[term]?.includes(name) !== true)),
  };
}

/** Whether there is anything to agree to. */
export function needsConsent(access: ProfileAccess): boolean {
  const { isSwitch, variables, include } = access;
  const lists = termsWith('ofAccount').map((term) => access[term]);
  return isSwitch || [variables, include, ...lists].some((list) => list.length > 0);
}

/** Remembers that the user agreed. Folders cannot write the file. */
export async function saveConsent(home: string, folder: string, access: ProfileAccess): Promise<void> {
  const { host, isSwitch, variables, include } = access;
  const { [folder]: before = [], ...others } = await readConsents(home);
  const used = termsWith('ofAccount').flatMap((term) =>
    access[term].map((name) => `${JOB_TERMS[term].ofAccount}:${name}`),
  );
  const sent = [...variables, ...include.map((path) => `./${path}`), ...used].map((what) => `${what} ${host}`);
  const now = [...before, ...(isSwitch ? [host] : []), ...sent];
  const kept = Object.entries(others).slice(0, MOST_FOLDERS);
  makeFolder(home);
  await writeAtomically(join(home, FILE), JSON.stringify({ [folder]: [...new Set(now)], ...Object.fromEntries(kept) }));
}

/** What the profile would do, worded for the question and the refusal. */
export function describeAccess({ name }: Pick<ProfileJob, 'name'>, access: ProfileAccess, service: string): string {
  const { isSwitch, variables, include } = access;
  const [them, rules] = [
    variables.length === 1 ? 'it' : 'them',
    include.length === 1 ? 'leaves it out' : 'leaves them out',
  ];
  const parts = [
    ...(isSwitch ? [`sends this folder to ${service}, which is not your selected service`] : []),
    ...(variables.length > 0
      ? [`reads ${variables.join(', ')} from your environment and sends ${them} to ${service}`]
      : []),
    ...(include.length > 0
      ? [`sends ${include.map((path) => printableLine(path)).join(', ')} to ${service} even if a rule ${rules}`]
      : []),
    ...termsWith('ofAccount').flatMap((term) => {
      const [names, { ofAccount }] = [access[term], JOB_TERMS[term]];
      if (names.length === 0) return [];
      return [`gives your ${names.length === 1 ? ofAccount : `${ofAccount}s`} ${names.join(', ')} to the job`];
    }),
  ];
  return `Profile ${name} ${parts.join(', and ')}.`;
}

/**
 * The host of the service that a profile names.
 *
 * @param hosts the user's services; the embedded one is always known.
 * @throws AppError `missing` if the user has no service of this name; its address is never taken from the folder.
 */
export function hostOfProfile(service: string, hosts: readonly string[]): string {
  const label = (host: string): string => host.replace(/^(?:https?|ssh):\/\//, '');
  const found = [LOCAL_HOST, ...hosts].find((host) => label(host) === service);
  if (found !== undefined) return found;
  const guess = nearest(service, hosts.map(label));
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  throw new AppError(
    'missing',
    `The profile names the service ${service}, which you have not used yet.${hint} Select it yourself first, or remove "service" from the profile.`,
  );
}

async function readConsents(home: string): Promise<Readonly<Record<string, readonly string[]>>> {
  try {
    return consents.parse(JSON.parse(await readFile(join(home, FILE), 'utf8')));
  } catch {
    return {}; // missing or damaged: the user is asked again
  }
}
