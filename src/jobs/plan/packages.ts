import * as l10n from '@vscode/l10n';
import { assertNever } from '../../core/errors.ts';
import { formatDuration } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import { ENVIRONMENTS_FEATURE, type KeptEnvironment } from '../../remote/protocol/environment.ts';
import { submission } from '../../remote/protocol/jobTerms.ts';
import { readPackageList } from '../../workspace/environments/packageList.ts';
import type { JobFinding } from '../selection/jobFinding.ts';
import { unusablePackages } from '../selection/packageReview.ts';
import { readFeatures } from './serviceLimits.ts';

// The only one that is offered for services that do not keep environments, because they may not support others.
const FIRST_LIST = 'requirements.txt';

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

/** The lists of a folder that a service can install. */
export function offeredLists(lists: readonly string[], account: unknown): readonly string[] {
  return keepsEnvironments(account) ? lists : lists.filter((name) => name === FIRST_LIST);
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
