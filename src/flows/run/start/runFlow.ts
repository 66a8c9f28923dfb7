import { setTimeout as sleep } from 'node:timers/promises';
import { isModelKeyVariable } from '../../../agents/llm/providers.ts';
import { assertNever } from '../../../core/errors.ts';
import { untilAborted } from '../../../core/processes/lifetime.ts';
import { readNamedFile } from '../../../core/files/namedFile.ts';
import { FlowEnding } from './flowEnding.ts';
import { withheldHint } from '../protocol/flowEnvironment.ts';
import { FlowProcess } from './flowProcess.ts';
import type { FlowProcessEvent, FlowRunRequest, FlowRuntime } from '../protocol/runRequest.ts';
import type { FlowOutcome } from '../protocol/flowOutcome.ts';
import type { ChildMessage } from '../protocol/runMessage.ts';

// Time for nodes to handle the abort and clean up before their process is terminated.
const STOP_GRACE_MS = 500;
const DEBUGGER_LINES =
  /^(?:Debugger (?:listening on ws:|attached\.|ending on ws:)|For help, see: https:\/\/nodejs\.org|Waiting for the debugger to disconnect)/;

const READS_VARIABLE = /\bprocess\.env(?:\.|\[['"])\w+/g;

export interface RunFlowOptions {
  /** Its abort stops the child and its children: first by aborting the flow, then SIGTERM, then SIGKILL. */
  readonly signal: AbortSignal;
  /** The child waits while the returned promise is pending: a slow listener slows the flow down, and nothing piles up. */
  readonly onEvent: (event: FlowProcessEvent) => void | Promise<void>;
}

/**
 * Runs a flow file in its own process and returns how it ended: a flow that fails is an outcome, not an error.
 *
 * @throws AppError `missing` if Node cannot be started, and what `onEvent` throws; the child is then terminated.
 */
export async function runFlow(
  runtime: FlowRuntime,
  request: FlowRunRequest,
  { signal, onEvent }: RunFlowOptions,
): Promise<FlowOutcome> {
  const { cwd, env, variables, ...childRequest } = request;
  const ending = new FlowEnding();
  const broken = new AbortController();
  const fail = (error: unknown): void => broken.abort(error);
  const emit = (event: FlowProcessEvent): Promise<void> | undefined => {
    if (broken.signal.aborted) return undefined;
    try {
      return onEvent(event)?.catch(fail);
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
  const handle = async (message: ChildMessage): Promise<void> => {
    if (message.type === 'ready') child.send({ type: 'request', request: childRequest });
    const events =
      message.type === 'events'
        ? message.events.map((event): FlowProcessEvent => ({ type: 'run', event }))
        : eventsOf(message, child.pid, runtime);
    for (const event of events) await emit(event);
    if (message.type === 'events') child.send({ type: 'taken', batch: message.batch });
  };
  let handled = Promise.resolve();
  const child = new FlowProcess(
    runtime,
    { cwd, env, variables },
    {
      message: (message) => {
        if (message.type === 'key') {
          const { variable } = message;
          const key = modelKeyOf(env, variable);
          child.send({ type: 'key', variable, key });
          if (!key) handled = handled.then(() => emit({ type: 'missingKey', variable }));
          return;
        }
        ending.note(message);
        handled = handled.then(() => handle(message)); // in their order
      },
      output: (stream, line) => {
        if (request.isDebugged === true && stream === 'stderr' && DEBUGGER_LINES.test(line.text)) return undefined;
        return emit({ type: 'output', stream, ...line });
      },
    },
  );
  const isOver = AbortSignal.any([signal, broken.signal]);
  try {
    const end = await Promise.race([child.exited, untilAborted(isOver)]);
    if (end === undefined) {
      child.send({ type: 'stop' });
      await Promise.race([child.exited, sleep(STOP_GRACE_MS)]);
    }
    await child.end();
    const { code, signal: killer } = await child.exited;
    await Promise.race([child.drained().then(() => handled), untilAborted(isOver)]);
    broken.signal.throwIfAborted();
    const outcome = ending.outcome({ code, signal: killer, isStopped: end === undefined });
    const hint = await hintFor(request, outcome);
    if (hint !== undefined) await emit({ type: 'note', message: hint });
    broken.signal.throwIfAborted();
    return outcome;
  } finally {
    child.close();
  }
}

function eventsOf(
  message: Exclude<ChildMessage, { type: 'events' }>,
  pid: number,
  { node }: FlowRuntime,
): FlowProcessEvent[] {
  switch (message.type) {
    case 'ready':
      return [{ type: 'started', pid, node, nodeVersion: message.nodeVersion }];
    case 'library':
    case 'graph':
    case 'visited':
    case 'note':
      return [message];
    case 'debugger': {
      const { hostname, port } = new URL(message.url);
      return [{ type: 'debugger', host: hostname, port: Number(port), url: message.url }];
    }
    case 'refused':
    case 'threw': // reported by the outcome
    case 'key':
      return [];
    default:
      return assertNever(message);
  }
}

/** Only model keys may be requested: a flow could ask for any variable. */
function modelKeyOf(env: FlowRunRequest['env'], variable: string): string | undefined {
  return isModelKeyVariable(variable) ? env[variable] : undefined;
}

/** Reports variables that the file reads but does not get; after a failure, also those that the file or the error names. */
async function hintFor(request: FlowRunRequest, outcome: FlowOutcome): Promise<string | undefined> {
  if (outcome.type === 'stopped' || outcome.type === 'killed') return undefined;
  const source = await readNamedFile(request.file).catch(() => '');
  if (outcome.type === 'done') return withheldHint(request, source.match(READS_VARIABLE) ?? []);
  return withheldHint(request, ['error' in outcome ? outcome.error.message : '', source]);
}
