import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import { placeAtomically, writeAtomicallySync } from '../../core/files/atomicFile.ts';
import type { ClaimMarker } from './markers.ts';

/** For jobs that an earlier version accepted, whose specs have no limit. */
export const DEFAULT_MAX_LOG_BYTES = 64e6;

/** The files of one job. The service and the job's runner share nothing else, so either can end at any time. */
export interface JobFolder {
  readonly path: string;
  readonly workspace: string;
  /** What was sent, until the job begins; small ones are in the store. */
  readonly archive: string;
  /** What to run: a `RunnerSpec`. */
  readonly spec: string;
  /** What was submitted: a list of paths with their hashes. */
  readonly manifest: string;
  /** Who runs the job: a `ClaimMarker`, made once and never changed. */
  readonly claim: string;
  /** That the script runs: a `StartedMarker`. */
  readonly started: string;
  /** How the job ended: an `ExitMarker`. */
  readonly exit: string;
  /** Its presence asks the runner to end the job. */
  readonly cancel: string;
  /** The output, one `LogFrame` or `FlowFrame` on each line. */
  readonly output: string;
  /** What the runner itself has to say when it breaks. */
  readonly runnerLog: string;
  readonly virtualEnvironment: string;
  /** Lines for pip that came with the submission. */
  readonly requirements: string;
  /** How the job is kept from others: a `Confinement`. */
  readonly confinement: string;
  /** What a sandboxed job sees as its home and as /tmp. */
  readonly home: string;
  readonly temporary: string;
  readonly results: string;
}

export interface LogFrame {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** Something that a flow told of its run, between the pieces of its output. */
export interface FlowFrame {
  readonly flow: unknown;
}

export function jobFolder(path: string): JobFolder {
  const at = (name: string): string => join(path, name);
  return {
    path,
    workspace: at('workspace'),
    archive: at('archive.tar.gz'),
    spec: at('job.json'),
    manifest: at('manifest.json'),
    claim: at('claim.json'),
    started: at('started.json'),
    exit: at('exit.json'),
    cancel: at('cancel'),
    output: at('output.ndjson'),
    runnerLog: at('runner.log'),
    virtualEnvironment: at('venv'),
    requirements: at('requirements.txt'),
    confinement: at('confinement.json'),
    home: at('home'),
    temporary: at('tmp'),
    results: at('results.tar.gz'),
  };
}

/** Writes a file that is either absent or whole, also over a power loss. */
export function writeMarker(path: string, value: object): void {
  writeAtomicallySync(path, JSON.stringify(value), { isDurable: true });
}

/**
 * Makes this process the only one that may run the job, or decide that nobody will.
 *
 * @returns false when another process has it.
 */
export function claimJob(folder: JobFolder, marker: ClaimMarker): boolean {
  // A link is made whole or not at all and never replaces a file, which a rename would.
  const link = (unfinished: string): void => linkSync(unfinished, folder.claim);
  try {
    placeAtomically(folder.claim, JSON.stringify(marker), link, { isDurable: true });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Asks a job's runner for the end. Also where a job put something else in that place, and on a full disk. */
export function askForEnd(folder: JobFolder): void {
  writeAtomicallySync(folder.cancel, ''); // an empty file takes no room
}
