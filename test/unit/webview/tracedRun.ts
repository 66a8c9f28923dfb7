import type { TraceEvent } from '../../../src/agents/records/trace.ts';

interface VisitOptions {
  readonly visit?: number;
  readonly action?: string;
  readonly millis?: number;
  readonly tokens?: number;
  readonly cost?: number;
  readonly fails?: string;
}

export interface TracedRun {
  readonly events: readonly TraceEvent[];
  /** A node begins. */
  start(path: string, visit?: number): TracedRun;
  /** A node begins, calls its model when it has tokens, and ends. */
  visit(path: string, options?: VisitOptions): TracedRun;
  /** A nested flow begins, does what `within` says, and ends. */
  flow(path: string, within: (run: TracedRun) => unknown, fails?: string): TracedRun;
}

/** The trace events that a run would tell, for tests of what is shown of it. */
export function tracedRun(): TracedRun {
  const events: TraceEvent[] = [];
  let at = 0;
  const place = (path: string, visit: number) => ({ path, node: path.slice(path.lastIndexOf('/') + 1), visit, at });
  const end = (
    kind: 'node-end' | 'flow-end',
    path: string,
    visit: number,
    action: string | undefined,
    fails: string | undefined,
  ): void => {
    if (fails !== undefined) {
      events.push({ type: 'error', ...place(path, visit), message: fails });
      return;
    }
    events.push({
      type: kind,
      ...place(path, visit),
      action,
      prepMicros: 0,
      execMicros: 0,
      postMicros: 0,
      isReplayed: false,
    });
    events.push({ type: 'edge', ...place(path, visit), action: action ?? 'default', to: null });
  };
  const run: TracedRun = {
    events,
    start(path, visit = 1) {
      events.push({ type: 'node-start', ...place(path, visit) });
      return run;
    },
    visit(path, { visit = 1, action, millis = 1, tokens = 0, cost, fails } = {}) {
      run.start(path, visit);
      const call = {
        provider: 'openai',
        model: 'm',
        durationMs: millis,
        inputTokens: tokens,
        outputTokens: 0,
        retries: 0,
      };
      if (tokens > 0) events.push({ type: 'model', ...place(path, visit), ...call, estimatedCost: cost });
      at += millis * 1_000;
      end('node-end', path, visit, action, fails);
      return run;
    },
    flow(path, within, fails) {
      events.push({ type: 'flow-start', ...place(path, 1) });
      within(run);
      end('flow-end', path, 1, undefined, fails);
      return run;
    },
  };
  return run;
}
