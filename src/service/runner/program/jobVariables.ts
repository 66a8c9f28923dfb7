import { join } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import { JOB_ID_VARIABLE } from '../../jobFiles/jobProcessTag.ts';
import type { SecretValues } from '../../jobFiles/runnerInput.ts';
import type { RunnerSpec } from '../../jobFiles/runnerSpec.ts';
import { activation, type JobPackages } from '../environment/jobPackages.ts';

/** The variables of a job's programs. */
export interface JobVariables {
  /** Those of the machine. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Those of the job, which win: what it was submitted with, its secrets, and what the service says. */
  readonly own: Readonly<Record<string, string>>;
}

/**
 * @param more variables of the service: paths, and the GPUs of the job, which nothing that was submitted may change.
 * @throws AppError `missing` if a secret did not arrive.
 */
export function jobVariables(
  folder: JobFolder,
  { jobId, artifacts, venv, secrets: names = [] }: RunnerSpec,
  secrets: SecretValues,
  more: Readonly<Record<string, string>>,
): JobVariables {
  const lost = names.filter((name) => !Object.hasOwn(secrets, name));
  if (lost.length > 0) {
    const message = `The secrets ${lost.join(', ')} did not reach the machine that runs the job. Submit again.`;
    throw new AppError('missing', message);
  }
  const inherited = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name === 'ELECTRON_RUN_AS_NODE' ? [] : [[name, value]],
    ),
  );
  const own = {
    PYTHONUNBUFFERED: '1',
    // Compiled files beside the sources would be returned as results.
    PYTHONDONTWRITEBYTECODE: '1',
    ...venv?.env,
    ...secrets,
    [JOB_ID_VARIABLE]: jobId,
    FARWHARF_ARTIFACTS: join(folder.workspace, artifacts),
    ...more,
  };
  return { inherited, own };
}

/** All variables of a program that runs on the machine itself, where the job's packages come first in the search path. */
export function variablesOnMachine(
  { inherited, own }: JobVariables,
  packages: JobPackages | undefined,
): Record<string, string> {
  const active = packages === undefined ? {} : activation(packages, inherited['PATH'] ?? '');
  // For start scripts of flows: this machine may have no other Node.js.
  return { ...inherited, ...active, ...own, FARWHARF_NODE: process.execPath };
}
