import { AppError } from '../core/errors.ts';
import { Run, type RunOptions, tracedRun } from './run.ts';
import { hasTracerProvider, openTelemetryListener } from './telemetry.ts';
import { Frame, Station, type Unit } from './unit.ts';
import { walk } from './walk.ts';

/** Runs a node or a flow as the outermost unit, and gives what its `post` returned. */
export async function startRun(unit: Unit, shared: unknown, options: RunOptions): Promise<unknown> {
  const { signal, resume } = options;
  signal?.throwIfAborted();
  const run = new Run(options, hasTracerProvider() ? await openTelemetryListener() : undefined);
  const station = new Station(unit, unit.name, 0);
  const frame = new Frame(run, station);
  if (resume !== undefined) {
    restoreShared(shared, resume.shared);
    frame.resume = resume.position;
  }
  const start = (): Promise<unknown> =>
    run.listener === undefined ? walk(station, shared, frame) : tracedRun.run(run, walk, station, shared, frame);
  // Awaited here: an async function that returns a promise takes three more turns of the microtask queue.
  const result = await (signal === undefined ? start() : untilAborted(run, signal, start));
  return result;
}

/**
 * Rejects with the signal's reason at the moment of the abort, even when a hook ignores it. One listener for the whole run
 * costs less than a race at each step; the walk itself ends when the hook does.
 */
function untilAborted(run: Run, signal: AbortSignal, start: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      run.isAborted = run.listener === undefined;
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true }); // before the start: the first sync hook may abort
    void start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

function restoreShared(shared: unknown, saved: Readonly<Record<string, unknown>>): void {
  if (typeof shared !== 'object' || shared === null) {
    throw new AppError('bad-input', 'A run that resumes needs an object as shared state, to put the saved state into.');
  }
  for (const key of Object.keys(shared)) delete (shared as Record<string, unknown>)[key];
  Object.assign(shared, structuredClone(saved));
}
