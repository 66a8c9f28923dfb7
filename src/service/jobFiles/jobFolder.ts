import { linkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../core/errors.ts';
import type { FrozenPlace } from '../../remote/protocol/debugging.ts';
import type { UsageEventData } from '../../remote/protocol/schemas.ts';
import { placeAtomically, writeAtomicallySync } from '../../core/files/atomicFile.ts';
import type { ClaimMarker } from './markers.ts';

/** For jobs that an earlier version accepted, whose specs have no limit. */
export const DEFAULT_MAX_LOG_BYTES = 64e6;

/**
 * The permissions of a runner's files. Nobody but the service can enter the folder, unless it is shared with the user of its job, who is
 * not the owner of the folder: then the service reads them through an access control list, whose entries these bits limit.
 */
export const RUNNER_FILE_MODE = 0o660;

const NAMES = {
  workspace: 'workspace',
  /** The submitted archive, or the pieces of a submission by content, until the job starts; small ones are in the store. */
  archive: 'archive.tar.gz',
  /** What was received of a submission without a key, until it is accepted. */
  upload: 'upload',
  /** What to run: a `RunnerSpec`. */
  spec: 'job.json',
  /** The submitted files: a list of paths with their hashes. */
  manifest: 'manifest.json',
  /** The process that runs the job: a `ClaimMarker`, created once and never changed. */
  claim: 'claim.json',
  /** The latest program that installs the packages: a `StartedMarker`. */
  installing: 'installing.json',
  /** Exists once the script runs: a `StartedMarker`. */
  started: 'started.json',
  /** How the job ended: an `ExitMarker`. */
  exit: 'exit.json',
  /** The socket on which the runner lets clients into the job; on Windows a file with the name of a pipe. */
  entrance: 'tunnel.sock',
  /** Its presence asks the runner to stop the job. */
  cancel: 'cancel',
  /** How long the job may be frozen, once that has changed: a `HoldOrder`. */
  hold: 'hold.json',
  /** Exists once the service has begun to end a job whose runner has not ended it at its time limit. */
  overdue: 'overdue',
  /** The output, one `LogFrame`, `FlowFrame`, `UsageFrame` or `FreezeFrame` per line. */
  output: 'output.ndjson',
  /** What a failing runner prints itself. */
  runnerLog: 'runner.log',
  /** What a module that cannot be loaded prints on a cluster. */
  moduleLog: 'module.log',
  virtualEnvironment: 'venv',
  /** What a build of packages that are kept sees in place of the workspace. */
  build: 'build',
  /** Lines for pip that came with the submission. */
  requirements: 'requirements.txt',
  /** How the job is separated from others: a `Confinement`. */
  confinement: 'confinement.json',
  /** The folders that the job has besides its own: a list of `JobVolume`. */
  volumes: 'volumes.json',
  /** The container of the job's programs: a `JobContainer`. */
  container: 'container.json',
  /** Its image, if that was fetched for the job. */
  image: 'image.sif',
  /** The secrets of a job for a runner on another machine, which removes them before it starts the script. */
  secrets: 'secrets.json',
  /** What a sandboxed job sees as its home and as /tmp. */
  home: 'home',
  temporary: 'tmp',
  results: 'results.tar.gz',
  /** The cluster's numbers of earlier runs, from which the cluster took the job back: a list. */
  returned: 'returned.json',
  /** Exists beside packed results that lack files of the workspace, which is then kept as well. */
  incomplete: 'incomplete',
};

/** The paths of one job's files. The service and the job's runner share nothing else, so either can end at any time. */
export type JobFolder = { readonly path: string } & { readonly [Name in keyof typeof NAMES]: string };

export interface LogFrame {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** An event of a flow's run, between the pieces of its output. */
export interface FlowFrame {
  readonly flow: unknown;
}

/** What the job has used since the last such frame. */
export interface UsageFrame {
  readonly usage: UsageEventData;
}

/** Where the job waits for a debugger since when and until when, in milliseconds since 1970; null once it continues. */
export interface FreezeFrame {
  readonly freeze: {
    readonly at: number;
    readonly frozen: (FrozenPlace & { readonly since: number; readonly until: number }) | null;
  };
}

export function jobFolder(path: string): JobFolder {
  const files = Object.entries(NAMES).map(([file, name]) => [file, join(path, name)]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one for each name
  return { path, ...Object.fromEntries(files) } as JobFolder;
}

/** Writes a file that is either absent or complete, even after a power loss. */
export function writeMarker(path: string, value: object): void {
  writeAtomicallySync(path, JSON.stringify(value), { mode: RUNNER_FILE_MODE, isDurable: true });
}

/**
 * Makes this process the only one that may run the job, or decide that nobody will.
 *
 * @returns false if another process has claimed it.
 */
export function claimJob(folder: JobFolder, marker: ClaimMarker): boolean {
  // A link appears completely or not at all, and never replaces a file as a rename would.
  const link = (unfinished: string): void => linkSync(unfinished, folder.claim);
  try {
    placeAtomically(folder.claim, JSON.stringify(marker), link, { mode: RUNNER_FILE_MODE, isDurable: true });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Asks a job's runner to stop it. Works on a full disk, and if the job put something else in the file's place. */
export function askForEnd(folder: JobFolder): void {
  writeAtomicallySync(folder.cancel, ''); // an empty file takes no space
}

/** Records that the packed results of a job lack files of its workspace. Replaces whatever the job put in the file's place. */
export function noteIncomplete(folder: JobFolder): void {
  writeAtomicallySync(folder.incomplete, '');
}
