import { readFileSync, rmSync } from 'node:fs';
import { systemCode } from '../../core/errors.ts';
import { parseOwnJson } from '../../core/jsonFields.ts';
import { writeAtomicallySync } from '../../core/files/atomicFile.ts';
import type { JobFolder } from './jobFolder.ts';
import { SECRET_LENGTH } from './reportSeal.ts';

/** The argument before the name of a module that could not be loaded on a node, so that the job cannot start. */
export const WITHOUT_MODULE = '--without-module';

/** The argument with which a runner's program passes its standard streams on to the runner of a job on its machine. */
export const ENTER = '--enter';
/** What it exits with if that lets nobody in. */
export const NOT_ENTERED = 69;

/** The values of a job's secrets, by name. */
export type SecretValues = Readonly<Record<string, string>>;

/** What a runner on this machine gets through standard input, which nobody else can see: the secret for its seal, and the job's secrets. */
export interface RunnerInput {
  readonly seal: string;
  readonly secrets: SecretValues;
}

export function writeRunnerInput({ seal, secrets }: RunnerInput): string {
  return seal + JSON.stringify(secrets);
}

/** @throws an error if the service ended before it had sent everything. */
export function parseRunnerInput(text: string): RunnerInput {
  if (!text.endsWith('}')) throw new Error('The service ended before it had sent the secrets.');
  return { seal: text.slice(0, SECRET_LENGTH), secrets: parseOwnJson<SecretValues>(text.slice(SECRET_LENGTH)) };
}

/** Leaves the secrets of a job for a runner on another machine, in a file that only this user can read. */
export function leaveSecrets(folder: JobFolder, secrets: SecretValues): void {
  if (Object.keys(secrets).length > 0) writeAtomicallySync(folder.secrets, JSON.stringify(secrets));
}

/** Reads and removes the secrets that were left for this runner. */
export function takeSecrets(folder: JobFolder): SecretValues {
  try {
    const secrets = parseOwnJson<SecretValues>(readFileSync(folder.secrets, 'utf8'));
    rmSync(folder.secrets);
    return secrets;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return {};
    throw error;
  }
}
