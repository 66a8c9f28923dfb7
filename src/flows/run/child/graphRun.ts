import { installRunHost } from '../../../agents/run/runHost.ts';
import { AppError } from '../../../core/errors.ts';
import { type ExactGraph, graphOfFlow } from '../../graph/exactGraph.ts';
import type { ChildRequest } from '../protocol/runMessage.ts';
import { findFlow } from './loading/exportedFlow.ts';
import { importedFile } from './loading/importedFile.ts';

/**
 * Loads a flow file and returns the graphs of the flows that it exports or runs. No flow is run: a call of `run` records its
 * flow and throws.
 *
 * @throws what the file throws before it has created a flow, and AppError if it creates none.
 */
export async function loadGraphs({ file, flow }: Pick<ChildRequest, 'file' | 'flow'>): Promise<ExactGraph[]> {
  const found = new Set<object>();
  installRunHost({
    begin({ unit }) {
      found.add(unit);
      throw new AppError('refused', 'Flows cannot run here: only the graph was requested.');
    },
  });
  try {
    const exports = await importedFile(file);
    for (const value of Object.values(exports)) {
      if (typeof value === 'object' && value !== null && graphOfFlow(value) !== undefined) found.add(value);
    }
    if (found.size === 0) found.add(await findFlow(exports, flow, file));
  } catch (error) {
    if (found.size === 0) throw error;
  }
  return [...found].flatMap((one) => graphOfFlow(one) ?? []);
}
