import { join } from 'node:path';
import * as l10n from '@vscode/l10n';
import { pathInside } from '../../core/files/pathInside.ts';
import { statedTerms } from '../../remote/protocol/jobTerms.ts';
import { readBatchScript } from '../batch/batchScript.ts';
import type { SubmitDraft } from '../plan/draft.ts';
import { batchProfile } from '../profiles/batchProfile.ts';
import type { ProfileJob } from '../profiles/profileJob.ts';
import { scriptPath, type StartedProgram } from '../selection/script.ts';

/** The job that the `#SBATCH` lines of a script describe; undefined for other scripts. @throws AppError as `readBatchScript` does. */
export async function readBatch(folder: string, script: string): Promise<ProfileJob | undefined> {
  const path = scriptPath(script);
  const file = join(folder, path);
  if (path === '' || pathInside(folder, file) === undefined) return undefined;
  const text = await readBatchScript(file, path);
  return text === undefined ? undefined : batchProfile({ path, text, folder, script });
}

/** A draft that runs something else, with the terms of the `#SBATCH` lines of a script. */
export async function withStarted(folder: string, draft: SubmitDraft, program: StartedProgram): Promise<SubmitDraft> {
  const { batch: _1, command: _2, ...rest } = draft;
  const { script, command } = program;
  if (command !== undefined) return { ...rest, script, command };
  const job = await readBatch(folder, script);
  const { batch, ...terms } = job?.terms({ env: {}, file: undefined }) ?? {};
  if (job === undefined || batch === undefined) return { ...rest, script };
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
    script,
    batch: { ...batch, remarks: [...batch.remarks, ...array] },
  };
}
