import { basename, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../core/files/pathInside.ts';
import { statedTerms } from '../../remote/protocol/jobTerms.ts';
import { readBatchScript } from '../batch/batchScript.ts';
import type { SubmitDraft } from '../plan/draft.ts';
import { batchProfile } from '../profiles/batchProfile.ts';
import type { ProfileJob } from '../profiles/profileJob.ts';
import { commandFile } from '../selection/commandFile.ts';
import { scriptPath, type StartedProgram } from '../selection/script.ts';

const SHELL = /^(?:ba|da|k|z)?sh$/;

/**
 * The job that the `#SBATCH` lines of a script describe, also of one that a shell runs by a command: `bash train.sh`. Undefined for other
 * scripts and commands.
 *
 * @throws AppError as `readBatchScript` does, for a script.
 */
export async function readBatch(folder: string, { script, command }: StartedProgram): Promise<ProfileJob | undefined> {
  const path = command === undefined ? scriptPath(script) : shellScript(command);
  const file = join(folder, path);
  if (path === '' || pathInside(folder, file) === undefined) return undefined;
  const text = await readBatchScript(file, path).catch((error: unknown) => {
    // A shell that is named runs what sbatch would refuse.
    if (command === undefined) throw error;
    return undefined;
  });
  return text === undefined ? undefined : batchProfile({ path, text, folder, script, command });
}

/** The script that a shell runs; empty for other commands. */
function shellScript(command: readonly string[]): string {
  const [program = ''] = command;
  return SHELL.test(basename(program)) ? (commandFile(command)?.paths[0] ?? '') : '';
}

/** A draft that runs something else, with the terms of the `#SBATCH` lines of a script. */
export async function withStarted(folder: string, draft: SubmitDraft, program: StartedProgram): Promise<SubmitDraft> {
  const { batch: _1, command: _2, ...rest } = draft;
  const { script, command } = program;
  const started = { script, ...(command && { command }) };
  const job = await readBatch(folder, program);
  const { batch, ...terms } = job?.terms({ env: {}, file: undefined }) ?? {};
  if (job === undefined || batch === undefined) return { ...rest, ...started };
  const count = job.combinations.length;
  const reason = l10n.t(
    'Only one of {0} tasks would be sent. Close this list and run Submit This File for the script.',
    count,
  );
  const array = count > 1 ? [{ line: 1, option: '--array', reason, isFatal: true }] : [];
  const { machineClass: _class, ...others } = rest;
  return {
    ...others,
    ...statedTerms(terms),
    ...started,
    batch: { ...batch, remarks: [...batch.remarks, ...array] },
  };
}
