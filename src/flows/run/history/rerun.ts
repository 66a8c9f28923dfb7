import type { Checkpoint } from '../../../agents/records/recordSchemas.ts';
import { AppError } from '../../../core/errors.ts';
import { readCheckpoints, readEvents } from './runFiles.ts';
import { RESUMED, type RunFolder } from './runFolder.ts';
import { timelinesOf } from '../protocol/runTimeline.ts';

/** The step of an earlier run at which to start; without a path, the end of that run. */
export interface RerunStep {
  /** The path of the node, or its name. */
  readonly path?: string | undefined;
  /** The last visit if absent. */
  readonly visit?: number | undefined;
}

/**
 * The checkpoint before a step of a run; undefined before the first step of a run that began at the start of its flow.
 *
 * @throws AppError `missing` if the run has no such step, or no checkpoint before it.
 */
export async function checkpointBefore(folder: RunFolder, { path, visit }: RerunStep): Promise<Checkpoint | undefined> {
  const checkpoints = await readCheckpoints(folder);
  if (path === undefined) return checkpoints.at(-1)?.checkpoint;
  const [timeline] = timelinesOf(await readEvents(folder));
  const steps = timeline?.steps ?? [];
  const index = steps.findLastIndex(
    (step) => (step.path === path || step.node === path) && (visit === undefined || step.visit === visit),
  );
  if (timeline === undefined || index < 0) {
    const names = [...new Set(steps.map((step) => step.path))].join(', ');
    if (names === '') {
      const message = `No step of the run is recorded, so it cannot start at "${path}". Run the flow from its beginning.`;
      throw new AppError('missing', message);
    }
    throw new AppError('missing', `The run has no step "${path}". Its steps are at ${names}.`);
  }
  const before = steps[index - 1];
  if (before === undefined) return checkpoints.find(({ run }) => run === RESUMED)?.checkpoint;
  const checkpointRow = checkpoints.findLast(
    ({ run, checkpoint }) =>
      run === timeline.start.run && checkpoint.path === before.path && checkpoint.visit === before.visit,
  );
  if (checkpointRow !== undefined) return checkpointRow.checkpoint;
  throw new AppError(
    'missing',
    `The run has no checkpoint before "${path}": its shared state was not plain data or was too large, or the step before ran beside others. ` +
      'Run from the beginning with recorded results instead.',
  );
}
