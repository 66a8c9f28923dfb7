import { AppError } from '../../../core/errors.ts';
import type { ExactGraph } from '../../graph/exactGraph.ts';
import type { VariableSource } from '../protocol/flowEnvironment.ts';
import type { FlowRunRequest, FlowRuntime } from '../protocol/runRequest.ts';
import { runFlow } from './runFlow.ts';

const LOAD_LIMIT_MS = 15_000;

/**
 * The exact graphs of a file's flows, found by loading the file in its own process. This runs the code of the file but none of
 * its flows, so it is only for trusted folders and on request.
 *
 * @throws AppError `bad-input` if the file cannot be loaded or creates no flow, `limit` if that takes too long; the signal's
 * reason on abort.
 */
export async function readByRunning(
  runtime: FlowRuntime,
  request: Pick<FlowRunRequest, 'file' | 'cwd' | keyof VariableSource>,
  signal: AbortSignal,
): Promise<readonly ExactGraph[]> {
  const received = new AbortController();
  const limit = AbortSignal.timeout(LOAD_LIMIT_MS);
  let graphs: readonly ExactGraph[] | undefined;
  const outcome = await runFlow(
    runtime,
    { ...request, isGraphOnly: true },
    {
      signal: AbortSignal.any([signal, limit, received.signal]),
      onEvent: (event) => {
        if (event.type !== 'graph') return;
        graphs = event.graphs;
        received.abort();
      },
    },
  );
  signal.throwIfAborted();
  if (graphs !== undefined) return graphs;
  if (limit.aborted) {
    throw new AppError(
      'limit',
      `${request.file} did not finish loading within ${LOAD_LIMIT_MS / 1000} s, so its flows are unknown.`,
    );
  }
  const why = 'error' in outcome ? outcome.error.message : `its process ended (${outcome.type})`;
  throw new AppError('bad-input', `The flows of ${request.file} cannot be read by running it: ${why}`);
}
