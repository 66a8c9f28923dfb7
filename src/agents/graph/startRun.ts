import { AppError } from '../../core/errors.ts';
import { RunBudget } from '../run/budget.ts';
import { checkOptions } from '../schema/optionShape.ts';
import { RunState } from '../run/runState.ts';
import { RUN_OPTIONS, type RunOptions } from '../run/runOptions.ts';
import { type HostedRun, runHost } from '../run/runHost.ts';
import { checkResumption } from '../run/resumption.ts';
import { eitherSignal, scopes } from '../run/runScope.ts';
import { hasTracerProvider } from '../run/openTelemetry.ts';
import { openTelemetry } from '../run/telemetry.ts';
import type { Telemetry } from '../records/trace.ts';
import { Frame, GraphNode, type Unit } from './unit.ts';
import { walk } from './walk.ts';

/** Runs a node or a flow as the outermost unit, and returns the result of its `post`. */
export function startRun(unit: Unit, shared: unknown, options: RunOptions): Promise<unknown> {
  if (!hasTracerProvider()) return begin(unit, shared, options, undefined);
  return openTelemetry().then((telemetry) => begin(unit, shared, options, telemetry));
}

// Not async: another promise around that of the walk would cost a short run a tenth of its time.
function begin(unit: Unit, shared: unknown, options: RunOptions, telemetry: Telemetry | undefined): Promise<unknown> {
  let hosted: HostedRun | undefined;
  try {
    checkOptions('run', options, RUN_OPTIONS, unit);
    const outer = scopes.getStore();
    const hostedOptions = withSignal(options, eitherSignal(options.signal, outer?.signal));
    hosted = runHost()?.begin({ unit, name: unit.name, shared, options: hostedOptions, isInner: outer !== undefined });
    const runOptions = hosted?.options ?? hostedOptions;
    const budget = RunBudget.of(runOptions, outer?.run.budget);
    const deadline = budget === outer?.run.budget ? undefined : budget?.deadline();
    const limited = withSignal(runOptions, eitherSignal(runOptions.signal, deadline?.signal));
    limited.signal?.throwIfAborted();
    const parts = { shared, telemetry, hosted, budget };
    const walked =
      limited.resume === undefined && limited.input === undefined
        ? walkFrom(unit, new RunState(limited, parts))
        : resumed(limited, hosted).then((resumption) =>
            walkFrom(unit, new RunState({ ...limited, ...resumption }, parts)),
          );
    return deadline === undefined ? walked : walked.finally(() => deadline.clear());
  } catch (error) {
    hosted?.ended({ at: 0, failure: { error } });
    return rejected(error);
  }
}

type Resumption = Pick<RunOptions, 'resume' | 'input'>;

async function resumed({ resume, input }: Resumption, hosted: HostedRun | undefined): Promise<Resumption> {
  try {
    return await checkResumption(resume, input);
  } catch (error) {
    hosted?.ended({ at: 0, failure: { error } });
    throw error;
  }
}

function withSignal(options: RunOptions, signal: AbortSignal | undefined): RunOptions {
  return options.signal === signal ? options : { ...options, signal };
}

function walkFrom(unit: Unit, run: RunState): Promise<unknown> {
  const { shared } = run;
  const { signal, resume } = run.options;
  const node = new GraphNode(unit, unit.name, 0);
  const frame = new Frame(run, run.scope, node);
  if (resume !== undefined) {
    restoreShared(shared, resume.shared);
    frame.resume = resume.position;
  }
  const walked = signal === undefined ? start(frame, shared) : untilAborted(run, signal, () => start(frame, shared));
  return run.hosted === undefined ? walked : reported(run, run.hosted, walked);
}

function start(frame: Frame, shared: unknown): Promise<unknown> {
  return scopes.run(frame.scope, walk, frame.node, shared, frame);
}

async function reported(run: RunState, hosted: HostedRun, walked: Promise<unknown>): Promise<unknown> {
  try {
    const action = await walked;
    hosted.ended({ at: run.micros(), action });
    return action;
  } catch (error) {
    hosted.ended({ at: run.micros(), failure: { error } });
    throw error;
  }
}

async function rejected(error: unknown): Promise<never> {
  throw error;
}

/**
 * Rejects with the signal's reason as soon as it is aborted, even if a hook ignores it. One listener for the whole run costs
 * less than a race at each step; the walk itself ends when the hook does.
 */
function untilAborted(run: RunState, signal: AbortSignal, start: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      try {
        run.abort(signal.reason);
        resolve(rejected(signal.reason));
      } catch (error) {
        resolve(rejected(error)); // an error of the listener, which would be lost in an event handler
      }
    };
    signal.addEventListener('abort', abort, { once: true }); // before the start: the first sync hook may abort
    void start()
      .finally(() => signal.removeEventListener('abort', abort)) // first, so that it is not visible after the end of the run
      .then(resolve, reject);
  });
}

function restoreShared(shared: unknown, saved: Readonly<Record<string, unknown>>): void {
  if (typeof shared !== 'object' || shared === null) {
    throw new AppError(
      'bad-input',
      'To resume a run, pass an object as the shared state: the saved state is copied into it.',
    );
  }
  for (const key of Object.keys(shared)) Reflect.deleteProperty(shared, key);
  Object.assign(shared, structuredClone(saved));
}
