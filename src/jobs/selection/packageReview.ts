import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { submission } from '../../remote/protocol/jobTerms.ts';
import {
  checkPackageList,
  type PackageList,
  type PackageTool,
  pipRequirements,
  readPackageList,
} from '../../workspace/environments/packageList.ts';
import type { Selection } from '../../workspace/select/selection.ts';
import { describeExclusion } from './exclusions.ts';
import { excludedBy } from './script.ts';
import type { JobFinding } from './jobFinding.ts';

/** The packages that a job installs. */
export interface InstalledPackages {
  readonly name: string;
  readonly tool: PackageTool;
  /** Why pip cannot install what a lock file of Python lists; undefined if it can. */
  readonly whyNotPip: string | undefined;
}

export interface PackageReview {
  readonly findings: readonly JobFinding[];
  /** Undefined if it installs none, or they cannot be read. */
  readonly installed: InstalledPackages | undefined;
}

/**
 * Checks that the files that list the packages of a job can be used, and are among those to send. Empty for a `venv` with another structure,
 * which belongs to another service.
 */
export async function reviewPackages(
  { root, files, excluded }: Pick<Selection, 'root' | 'files' | 'excluded'>,
  venv: Readonly<Record<string, unknown>> | undefined,
): Promise<PackageReview> {
  const { data } = submission.shape.venv.safeParse(venv);
  if (data === undefined) return { findings: [], installed: undefined };
  try {
    const list = await readPackageList(root, data);
    if (list !== undefined) checkPackageList(list);
    const needed = new Set(list?.files.filter(({ isOptional }) => isOptional !== true).map(({ path }) => path));
    for (const { path } of files) needed.delete(path);
    const findings = [...needed].map((path) => {
      const exclusion = excludedBy(excluded, path);
      const reason = exclusion === undefined ? '' : `${l10n.t('Reason: {0}.', describeExclusion(exclusion))} `;
      const detail = `${reason}${l10n.t('Include it, or change the rule.')}`;
      return unusable(l10n.t('{0}, which lists packages of the job, is left out', path), detail);
    });
    return { findings, installed: list && { name: list.name, tool: list.tool, whyNotPip: whyNotPip(list) } };
  } catch (error) {
    return { findings: [unusablePackages(error)], installed: undefined };
  }
}

function whyNotPip(list: PackageList): string | undefined {
  try {
    pipRequirements(list);
    return undefined;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** A finding for a list of packages that cannot be used. @throws any other error. */
export function unusablePackages(error: unknown): JobFinding {
  if (!(error instanceof AppError)) throw error;
  return unusable(l10n.t('The packages of the job cannot be installed'), error.message);
}

function unusable(summary: string, detail: string): JobFinding {
  return {
    type: 'packages',
    severity: 'error',
    summary: printableLine(summary),
    detail: printableLine(detail),
  };
}
