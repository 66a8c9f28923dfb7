import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { AppError } from '../../core/errors.ts';
import type { JobFolder } from '../jobFiles/jobFolder.ts';
import { ENTER, NOT_ENTERED } from '../jobFiles/runnerInput.ts';
import type { RunnerProgram } from './batch/sbatchSubmission.ts';
import type { ClusterUser } from './clusterUsers.ts';
import { slurmFailure, startSlurm } from './slurmCommand.ts';

// A node that does not answer, or a controller that starts no steps now.
const START_MS = 30_000;
const MAX_WORDS = 2_000;

export interface StepCall {
  /** Slurm's number of the job. */
  readonly number: string;
  readonly folder: JobFolder;
  readonly user: ClusterUser;
  readonly program: RunnerProgram;
}

/**
 * A connection into a running job: Slurm starts a step of it as its user, which passes its standard streams on to the job's runner on the
 * same node. It shares the job's processors and memory, and ends with either side.
 *
 * @throws AppError `conflict` if the job lets nobody in now, otherwise as `slurm`.
 */
export async function openStep({ number, folder, user, program }: StepCall, signal: AbortSignal): Promise<Duplex> {
  const what = [program.node, program.runner, folder.path, ENTER];
  // Without --unbuffered, Slurm keeps what is printed until the end of its line.
  const how = ['--overlap', '--nodes=1', '--ntasks=1', '--mem=0', '--quiet', '--unbuffered', '--export=NONE'];
  const child = startSlurm('srun', [`--jobid=${number}`, ...how, `--chdir=${folder.path}`, ...what], user);
  const { stdin, stdout, stderr } = child;
  let words = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(0, MAX_WORDS)));
  stdin.on('error', () => {}); // its end follows
  const ended = new Promise<{ code: number | null; cause?: unknown }>((resolve) => {
    child.once('error', (cause) => resolve({ code: null, cause }));
    child.once('close', (code) => resolve({ code }));
  });
  const tooLate = AbortSignal.any([signal, AbortSignal.timeout(START_MS)]);
  const onTooLate = (): void => void child.kill();
  tooLate.addEventListener('abort', onTooLate);
  const begun = once(stdout, 'readable').then(() => Buffer.isBuffer(stdout.read(1)));
  const isBegun = await Promise.race([begun.catch(() => false), ended.then(() => false)]);
  tooLate.removeEventListener('abort', onTooLate);
  if (isBegun) {
    const stream = Duplex.from({ readable: stdout, writable: stdin });
    // The step ends with its input.
    void finished(stream)
      .catch(() => {})
      .then(() => stdin.destroy());
    return stream;
  }
  stdin.destroy();
  const { code, cause } = await ended;
  if (code === NOT_ENTERED) {
    const message =
      'Nobody can connect to the job now: it is being prepared or is ending, or its programs run in a container.';
    throw new AppError('conflict', message);
  }
  throw slurmFailure('srun', Object.assign(new Error(words, { cause }), { stderr: words }), user);
}
