import { join } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import type { JobFolder } from '../../jobFiles/jobFolder.ts';
import { JOB_ID_VARIABLE } from '../../jobFiles/jobProcessTag.ts';
import type { SecretValues } from '../../jobFiles/runnerInput.ts';
import type { RunnerSpec } from '../../jobFiles/runnerSpec.ts';
import { activation, needsPython } from './virtualEnvironment.ts';

/** The variables of a job's programs. */
export interface JobEnvironment {
  /** Those of the machine. */
  readonly inherited: Readonly<Record<string, string>>;
  /** Those of the job, which win: what it was submitted with, its secrets, and what the service says. */
  readonly own: Readonly<Record<string, string>>;
  /** Whether a virtual environment is built for the job. */
  readonly hasVirtualEnvironment: boolean;
  /** Both, with a virtual environment that comes first in the search path, for programs that run on the machine itself. */
  readonly all: Readonly<Record<string, string>>;
}

/** @throws AppError `missing` if a secret did not arrive. */
export function environmentOf(
  folder: JobFolder,
  { jobId, artifacts, venv, secrets: names = [] }: RunnerSpec,
  secrets: SecretValues,
): JobEnvironment {
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
  };
  const hasVirtualEnvironment = venv !== null && needsPython(venv);
  const active = hasVirtualEnvironment ? activation(folder, inherited['PATH'] ?? '') : {};
  // For start scripts of flows: this machine may have no other Node.js.
  const all = { ...inherited, ...active, ...own, FARWHARF_NODE: process.execPath };
  return { inherited, own, hasVirtualEnvironment, all };
}
