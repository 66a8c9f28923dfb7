import * as l10n from '@vscode/l10n';
import { assertNever } from '../../core/errors.ts';
import { formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { ENVIRONMENTS_FEATURE, type KeptEnvironment } from '../../remote/protocol/environment.ts';
import { type JobSubmission, submission } from '../../remote/protocol/jobTerms.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import { formatOf, readPackageList, toolFor } from '../../workspace/environments/packageList.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import { type InstalledPackages, unusablePackages } from '../selection/packageReview.ts';
import { readFeatures } from './serviceLimits.ts';

// The only one that is offered for services that do not keep environments, because they may not support others.
const FIRST_LIST = 'requirements.txt';
// What services install that do not say it.
const FIRST_FORMATS: ReadonlySet<string> = new Set(['pip', 'uv', 'conda', 'npm']);
const PYTHON_LOCKS: ReadonlySet<string> = new Set(['uv', 'poetry', 'pdm']);

/** What happens with the packages of a job before its script starts. */
export type PackagesForecast = { readonly name: string } & (
  | { readonly state: 'ready' }
  /** @property lastSeconds how long it took last time; undefined if that is not known. */
  | { readonly state: 'install'; readonly lastSeconds: number | undefined }
  /** @property localPackage a package that comes from the folder. */
  | { readonly state: 'install-for-job'; readonly localPackage: string | undefined }
);

/** Whether a service keeps environments. @param account the response of `GET /v1/me`; undefined if there is none. */
export function keepsEnvironments(account: unknown): boolean {
  return readFeatures(account).includes(ENVIRONMENTS_FEATURE);
}

/** The lists of a folder that a service can install, as far as their names tell. */
export function offeredLists(lists: readonly string[], account: unknown): readonly string[] {
  const isStated = readPackageTools(account) !== undefined || keepsEnvironments(account);
  if (!isStated) return lists.filter((name) => name === FIRST_LIST);
  return lists.filter((name) => canInstall({ name, tool: toolFor(name), whyNotPip: undefined }, account));
}

/** Why a service cannot install the packages of a job; empty if it can, or if the job may bring the tools. */
export function toolFindings(
  installed: InstalledPackages | undefined,
  { account, service }: { readonly account: unknown; readonly service: string },
  { cluster }: Pick<JobSubmission, 'cluster'>,
): readonly JobFinding[] {
  if (installed === undefined || cluster?.modules !== undefined || cluster?.container !== undefined) return [];
  if (canInstall(installed, account)) return [];
  const { name, tool, whyNotPip } = installed;
  const tools = readPackageTools(account);
  const available =
    tools === undefined
      ? l10n.t('It is of an older version.')
      : l10n.t('Available: {0}.', tools.length === 0 ? l10n.t('nothing') : tools.join(', '));
  const detail = [
    ...(whyNotPip === undefined ? [] : [`${whyNotPip}.`]),
    available,
    l10n.t('Use another service, or ask its operator to install {0}.', tool),
  ];
  const summary = l10n.t('{0} cannot install packages from {1}', service, name);
  return [
    { type: 'packages', severity: 'error', summary: printableLine(summary), detail: printableLine(detail.join(' ')) },
  ];
}

function canInstall({ name, tool, whyNotPip }: InstalledPackages, account: unknown): boolean {
  const tools = readPackageTools(account);
  if (tools === undefined) return FIRST_FORMATS.has(formatOf(name));
  if (tools.includes(tool)) return true;
  return PYTHON_LOCKS.has(tool) && tools.includes('pip') && whyNotPip === undefined;
}

/** With what jobs of a service can install packages; undefined if it does not say. */
function readPackageTools(account: unknown): readonly string[] | undefined {
  return receivedAccount.safeParse(account).data?.package_tools ?? undefined;
}

/**
 * Compares what a job installs with what earlier jobs have installed. Undefined if it installs nothing, or if that is not known, as for a
 * service with another structure of `venv`.
 *
 * @param root the folder.
 * @param environments what the service keeps for the account; undefined if it keeps none.
 */
export async function forecastPackages(
  root: string,
  venv: Readonly<Record<string, unknown>> | undefined,
  environments: readonly KeptEnvironment[] | undefined,
): Promise<PackagesForecast | JobFinding | undefined> {
  const { data } = submission.shape.venv.safeParse(venv);
  if (data === undefined || environments === undefined) return undefined;
  try {
    const list = await readPackageList(root, data);
    if (list === undefined) return undefined;
    const { name, contents, localPackage } = list;
    if (data.keep === false || localPackage !== undefined) return { name, state: 'install-for-job', localPackage };
    if (environments.some((one) => one.contents === contents)) return { name, state: 'ready' };
    const last = environments.find((one) => one.name === name);
    return { name, state: 'install', lastSeconds: last?.build_seconds };
  } catch (error) {
    return unusablePackages(error);
  }
}

/** What a job that installs no packages could install, as a phrase. @param others what the service cannot install. */
export function describeFoundPackages(lists: readonly string[], others: readonly string[]): string {
  return [
    l10n.t('installs none'),
    ...(lists.length === 0 ? [] : [l10n.t('found {0}', lists.map((each) => printableLine(each)).join(', '))]),
    ...(others.length === 0
      ? []
      : [l10n.t('cannot install {0} there', others.map((each) => printableLine(each)).join(', '))]),
  ].join(' · ');
}

/** What happens with packages, as a phrase. */
export function describePackages(forecast: PackagesForecast): string {
  const name = printableLine(forecast.name);
  switch (forecast.state) {
    case 'ready':
      return l10n.t('{0} is installed already', name);
    case 'install':
      return forecast.lastSeconds === undefined
        ? l10n.t('{0} will be installed first', name)
        : l10n.t('{0} will be installed first (last time {1})', name, formatDuration(forecast.lastSeconds));
    case 'install-for-job':
      return forecast.localPackage === undefined
        ? l10n.t('{0} will be installed for this job only', name)
        : l10n.t(
            '{0} will be installed for this job only, because {1} comes from the folder',
            name,
            printableLine(forecast.localPackage),
          );
    default:
      return assertNever(forecast);
  }
}
