import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import { formatDuration } from '../../core/text/format.ts';
import { readBatchJob } from '../../jobs/batch/batchJob.ts';
import { readBatchScript } from '../../jobs/batch/batchScript.ts';
import { batchProfile } from '../../jobs/profiles/batchProfile.ts';
import type { ProfileJob } from '../../jobs/profiles/profileJob.ts';
import type { SubmitDraft } from '../../jobs/plan/draft.ts';
import { readFolder, type SubmitFlags } from './submitFlags.ts';
import { readProfileJob } from './submitProfile.ts';

/** What to send, and the job that a profile or a batch script describes; undefined if the script of a flag may be one. */
export interface SubmitInput {
  readonly folder: string;
  readonly job: ProfileJob | undefined;
}

/**
 * Reads the argument of `farwharf submit`: a folder, or a batch script. A batch script is sent with the folder that sbatch would start it
 * in: the one of `--chdir`, else the current one. If the script is not in it, or it contains the home folder, the script's own is sent.
 *
 * @throws AppError as `readFolder`, `readBatchScript` and `readProfileJob` do.
 */
export async function readSubmitInput(argument: string, flags: SubmitFlags, cwd: string): Promise<SubmitInput> {
  const file = resolve(cwd, argument);
  const isFile = await stat(file).then(
    (stats) => stats.isFile(),
    () => false,
  );
  const text = isFile ? await readBatchScript(file, argument) : undefined;
  if (text !== undefined) return readBatch(file, text, flags, cwd);
  const folder = await readFolder(argument, cwd);
  return { folder, job: await readProfileJob(folder, flags) };
}

async function readBatch(
  file: string,
  text: string,
  { profile, set = [], script, command }: SubmitFlags,
  cwd: string,
): Promise<SubmitInput> {
  if (profile !== undefined || set.length > 0) {
    const flag = profile === undefined ? '--set' : '--profile';
    throw new AppError('bad-input', `${file} is a batch script, which has no profile. Remove ${flag}.`);
  }
  if (command !== undefined) {
    throw new AppError('bad-input', `${file} is a batch script. Specify the folder to run a command in.`);
  }
  const chdir = readBatchJob(text).chdir?.path;
  const asked = chdir === undefined ? [] : [resolve(cwd, chdir)];
  // Nobody wants to send the home folder, or a folder that contains it.
  const current = pathInside(cwd, homedir()) === undefined ? [cwd] : [];
  for (const candidate of [...asked, ...current, dirname(file)]) {
    const folder = await readFolder(candidate, cwd).catch(() => undefined);
    const path = folder === undefined ? undefined : pathInside(folder, file);
    if (folder !== undefined && path) return { folder, job: batchProfile({ path, text, folder, script }) };
  }
  throw new AppError('missing', `${file} does not exist. Check the path.`);
}

/** `The folder /home/ada/model is sent. From job.sbatch: time limit 2 h, machine class gpu.` */
export function describeBatch(root: string, { batch, maxRuntime, machineClass, project, venv }: SubmitDraft): string {
  const env = venv?.['env'];
  const variables = typeof env === 'object' && env !== null ? Object.keys(env) : [];
  const terms = [
    `time limit ${formatDuration(maxRuntime)}`,
    `machine class ${machineClass ?? 'of the service'}`,
    ...(project === undefined ? [] : [`project ${project}`]),
    ...(variables.length === 0 ? [] : [`variables ${variables.join(', ')}`]),
  ];
  return `  note: Folder ${root} is sent. Taken from ${batch?.source ?? 'the script'}: ${terms.join(', ')}.`;
}
