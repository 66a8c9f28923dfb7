import { AppError } from '../../../core/errors.ts';
import type { FlowJob } from './flowJob.ts';

interface SweptScripts {
  /** The name of the sweep. */
  readonly name: string;
  /** The file that each job runs. */
  readonly files: readonly string[];
  /** Prepares the file of a job if it is a flow file. */
  readonly prepare: (index: number) => Promise<FlowJob | undefined>;
}

/**
 * The flow that all jobs of a sweep run, each with its own arguments; undefined if none of them runs a flow. The folder is packed once, with
 * the description of one flow.
 *
 * @throws AppError `bad-input` if they run different files, one of which is a flow; and as `prepare` does.
 */
export async function prepareSweptFlow({ name, files, prepare }: SweptScripts): Promise<FlowJob | undefined> {
  const distinct = new Set(files);
  for (const file of distinct) {
    const flow = await prepare(files.indexOf(file));
    if (flow === undefined) continue;
    if (distinct.size === 1) return flow;
    await flow[Symbol.asyncDispose]();
    const message = `The jobs of ${name} run ${distinct.size} different files, and ${file} is a flow. Nothing was sent. Use one flow file for all jobs, and pass it arguments.`;
    throw new AppError('bad-input', message);
  }
  return undefined;
}
