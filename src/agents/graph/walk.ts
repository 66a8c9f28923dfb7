import { AppError } from '../../core/errors.ts';
import { isPromise } from './awaitable.ts';
import { checkpointOf, resumedParts } from './position.ts';
import type { HostedRun } from '../run/runHost.ts';
import type { Checkpoint, ResumePoint } from '../records/schemas.ts';
import type { VisitSpan } from '../records/trace.ts';
import { canPause, type Frame, execute, kind, type GraphNode, type Unit } from './unit.ts';
import { partOf } from './lane.ts';
import { isPause, type Pause, PausedError } from '../run/pause.ts';
import { pausedCheckpoint } from '../run/resumption.ts';
import { Visit } from '../run/visit.ts';

export const DEFAULT_ACTION = 'default';

/**
 * Visits nodes from `entry` on until one returns an action without a next node, and returns that action as `post` returned it.
 *
 * The hooks are called in this function and only promises are awaited: a visit with sync hooks costs no await, and one with
 * async hooks exactly three.
 */
export async function walk(entry: GraphNode, shared: unknown, frame: Frame): Promise<unknown> {
  const { run } = frame;
  let node = entry;
  let resumed = resumeOf(frame);
  let visit: Visit | undefined;
  for (;;) {
    let action: unknown;
    const isDone = resumed?.isFinished === true && run.options.resume?.pause === undefined;
    if (isDone) {
      action = run.options.resume?.action;
    } else {
      if (!node.isFlow) {
        const turn = run.enter(node.label);
        if (turn !== undefined) {
          await turn;
          if (run.isObserved) run.micros();
        }
      }
      frame.throwIfAborted();
      if (run.isObserved) visit = beginVisit(node, frame);
      const context = visit?.context ?? frame.context;
      const unit = visit?.span === undefined ? node.unit : inSpan(node.unit, visit.span);
      try {
        if (resumed?.isFinished === true) {
          frame.node = node;
          visit?.prepared(undefined);
          visit?.executed(undefined);
          action = unit.answer(shared, run.options.input, context);
        } else {
          let prepRes = resumed === undefined ? unit.prep(shared, context) : resumed.point.prepRes;
          if (isPromise(prepRes)) prepRes = await prepRes;
          frame.throwIfAborted();
          frame.node = node;
          frame.prepRes = prepRes;
          visit?.prepared(prepRes);
          let execRes = unit[execute](prepRes, shared, frame, visit);
          if (isPromise(execRes)) execRes = await execRes;
          frame.throwIfAborted();
          visit?.executed(execRes);
          action = unit.post(shared, prepRes, execRes, context);
        }
        if (isPromise(action)) action = await action;
        frame.throwIfAborted();
        if (typeof action === 'object' && isPause(action)) throw await pausedAt(node, frame, shared, action);
      } catch (error) {
        if (error instanceof PausedError) visit?.paused(error);
        else visit?.failed(error);
        throw error;
      }
      visit?.finished(action);
    }
    if (frame.flow === undefined) {
      if (run.hosted !== undefined) await reportStep(run.hosted, node, frame, shared);
      return action;
    }
    const name = actionName(action, node, frame);
    if (!isDone && run.hosted !== undefined) {
      const checkpoint = frame.order === undefined ? () => checkpointOf(frame, name) : undefined;
      await reportStep(run.hosted, node, frame, shared, checkpoint);
      run.micros();
      frame.throwIfAborted();
    }
    // What runs beside others has no checkpoint of its own: the next is that after all of them.
    if (!isDone && run.options.onCheckpoint !== undefined && frame.order === undefined) {
      await run.options.onCheckpoint(checkpointOf(frame, name));
      run.micros();
      frame.throwIfAborted();
    }
    const next = node.exit(name);
    visit?.edge(name, next?.label ?? null);
    if (next === undefined) warnOfMissing(name, node, frame);
    if (next === undefined || next === null) return action;
    node = next;
    resumed = undefined;
  }
}

/** The end of a run that waits for a person. Its checkpoint is also passed to `onCheckpoint`, to outlive this process. */
async function pausedAt(node: GraphNode, frame: Frame, shared: unknown, request: Pause): Promise<PausedError> {
  const { run } = frame;
  if (!node.unit[canPause]) {
    throw new AppError(
      'bad-input',
      `post of "${node.label}" returned a pause, but the node has no answer(shared, input).`,
    );
  }
  const checkpoint = await pausedCheckpoint(checkpointOf(frame, DEFAULT_ACTION), request);
  if (run.hosted !== undefined) await reportStep(run.hosted, node, frame, shared);
  // In a lane beside others, it is not whole until they have ended.
  if (frame.order === undefined) await run.options.onCheckpoint?.(checkpoint);
  return new PausedError(node.label, checkpoint, request);
}

/** The position of the frame in the checkpoint from which the run resumes; undefined once its walk has passed it. */
function resumeOf(frame: Frame): { readonly point: ResumePoint; readonly isFinished: boolean } | undefined {
  if (frame.resume === undefined) return undefined;
  const [point, ...inner] = frame.resume;
  if (point === undefined) return undefined;
  frame.resume = inner.length > 0 ? inner : undefined;
  frame.resumedParts = resumedParts(point);
  return { point, isFinished: inner.length === 0 };
}

function beginVisit(node: GraphNode, frame: Frame): Visit {
  const { label, isFlow } = node;
  return new Visit(frame.run, frame.scope, {
    path: frame.pathOf(node),
    node: label,
    number: frame.arrive(node),
    isFlow,
    outer: frame.context,
    lane: frame.order,
  });
}

/** The unit with hooks that run in the span of its visit. */
function inSpan(unit: Unit, span: VisitSpan): Unit {
  return {
    name: unit.name,
    [kind]: unit[kind],
    [canPause]: unit[canPause],
    prep: (...call) => span.inSpan(() => unit.prep(...call)),
    [execute]: (...call) => span.inSpan(() => unit[execute](...call)),
    post: (...call) => span.inSpan(() => unit.post(...call)),
    answer: (...call) => span.inSpan(() => unit.answer(...call)),
  };
}

/** The action name; `undefined`, `null` and `''` mean `default`. */
function actionName(action: unknown, { label }: GraphNode, { path }: Frame): string {
  if (typeof action === 'string') return action === '' ? DEFAULT_ACTION : action;
  if (action === undefined || action === null) return DEFAULT_ACTION;
  throw new AppError(
    'bad-input',
    `post of "${label}" in ${path} returned a value of type ${typeof action}; an action is a string, or nothing for "default".`,
  );
}

function warnOfMissing(action: string, node: GraphNode, frame: Frame): void {
  const connected = node.actions.map((name) => `"${name}"`).join(', ') || 'none';
  const message =
    `"${node.label}" in ${frame.path} returned the action "${action}", which is not connected there ` +
    `(connected: ${connected}). The flow ends here; connect(node, null, action) ends it without this warning.`;
  const event = frame.run.warn({ ...placeOf(node, frame), node: node.label }, action, message);
  frame.scope.visit?.span?.onEvent(event);
}

function reportStep(
  hosted: HostedRun,
  node: GraphNode,
  frame: Frame,
  shared: unknown,
  checkpoint?: () => Checkpoint,
): void | Promise<void> {
  const part = partOf(frame);
  return hosted.stepped({ ...placeOf(node, frame), at: frame.run.micros(), shared, part, checkpoint });
}

function placeOf(node: GraphNode, frame: Frame): { path: string; visit: number } {
  return { path: frame.pathOf(node), visit: frame.visitsOf(node) };
}
