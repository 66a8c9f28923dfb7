import { AppError } from '../../core/errors.ts';
import { isPromise } from './awaitable.ts';
import { checkpointOf, resumedParts } from './resumePoints.ts';
import type { HostedRun, HostedPart } from '../run/runHost.ts';
import { CallPause } from '../run/callJournal.ts';
import { NO_CALLS } from '../run/runScope.ts';
import { toPlainJson } from '../records/plainJson.ts';
import type { Checkpoint, ExecItem, ResumePoint } from '../records/recordSchemas.ts';
import { canPause, DEFAULT_ACTION, type Frame, execute, type GraphNode, type Lane } from './unit.ts';
import { callQuestion, isPause, type Pause, type PausedCall, PausedError, type PauseRequest } from '../run/pause.ts';
import { pausedCheckpoint } from '../run/resumption.ts';

const DEPTH_OF_STACK = 500;

/**
 * Visits nodes from `entry` on until one returns an action without a next node, and returns that action as `post` returned it.
 *
 * The hooks are called in this function and only promises are awaited: a visit with sync hooks costs no await, and one with
 * async hooks exactly three. What is needed after an await is read from the frame, because each await saves the local variables.
 */
export async function walk(entry: GraphNode, shared: unknown, frame: Frame): Promise<unknown> {
  frame.node = entry;
  frame.shared = shared;
  // Deeply nested flows with sync hooks would overflow the stack, which can end the process.
  if (frame.depth % DEPTH_OF_STACK === DEPTH_OF_STACK - 1) await Promise.resolve();
  let resumed = resumeOf(frame);
  for (;;) {
    let action: unknown;
    if (resumed?.isDone === true) {
      action = frame.run.options.resume?.action;
    } else {
      if (!frame.node.isFlow) {
        const turn = frame.run.enter(frame.node.label);
        if (turn !== undefined) {
          await turn;
          if (frame.run.isObserved) frame.run.micros();
        }
      }
      frame.scope.throwIfAborted();
      frame.begin();
      try {
        if (resumed?.isWaiting === true && resumed.point.exec === undefined) {
          frame.visit?.prepared(undefined);
          frame.visit?.executed(undefined);
          action = frame.unit.answer(frame.shared, frame.run.options.input, frame.context);
        } else {
          let prepRes = resumed === undefined ? frame.unit.prep(frame.shared, frame.context) : resumed.point.prepRes;
          if (isPromise(prepRes)) prepRes = await prepRes;
          frame.scope.throwIfAborted();
          frame.prepRes = prepRes;
          frame.visit?.prepared(prepRes);
          if (!frame.node.isFlow) frame.scope.calls = NO_CALLS;
          if (resumed?.point.exec !== undefined) restoreExec(frame, resumed.point.exec);
          let execRes = frame.unit[execute](prepRes, frame.shared, frame, frame.visit);
          if (isPromise(execRes)) execRes = await execRes;
          frame.scope.throwIfAborted();
          endExec(frame);
          frame.visit?.executed(execRes);
          action = frame.unit.post(frame.shared, frame.prepRes, execRes, frame.context);
        }
        if (isPromise(action)) action = await action;
        frame.scope.throwIfAborted();
        if (typeof action === 'object' && isPause(action)) throw await pausedAt(frame, action);
      } catch (thrown) {
        const error = thrown instanceof CallPause ? await pausedBefore(frame, thrown) : thrown;
        if (error instanceof PausedError) frame.visit?.paused(error);
        else frame.visit?.failed(error);
        throw error;
      }
      frame.visit?.finished(action);
      if (frame.run.hasSteps) await finishStep(action, frame);
    }
    if (frame.flow === undefined) return action;
    const name = actionName(action, frame);
    const next = frame.node.exit(name);
    frame.visit?.edge(name, next?.label ?? null);
    if (next === undefined) warnOfMissing(name, frame);
    if (next === undefined || next === null) return action;
    frame.node = next;
    resumed = undefined;
  }
}

/** Notifies the host and the checkpoint listener that a visit has ended, and waits for them. */
async function finishStep(action: unknown, frame: Frame): Promise<void> {
  const { run } = frame;
  if (frame.flow === undefined) {
    if (run.hosted !== undefined) await reportStep(run.hosted, frame);
    return;
  }
  const name = actionName(action, frame);
  // Parallel lanes have no checkpoints of their own: the next one is after all of them.
  const checkpoint = frame.order === undefined ? () => checkpointOf(frame, name) : undefined;
  if (run.hosted !== undefined) {
    await reportStep(run.hosted, frame, checkpoint);
    run.micros();
    frame.scope.throwIfAborted();
  }
  if (run.options.onCheckpoint !== undefined && checkpoint !== undefined) {
    await run.options.onCheckpoint(checkpoint());
    run.micros();
    frame.scope.throwIfAborted();
  }
}

/** Gives the `exec` of a node what it had done before a call in it waited. */
function restoreExec(frame: Frame, exec: readonly ExecItem[]): void {
  frame.exec = exec;
  const [whole] = exec;
  if (whole === undefined || whole.item !== undefined) return;
  const journal = frame.scope.openJournal(undefined);
  journal.restore(whole, frame.run.options.input);
  frame.scope.calls = journal;
}

/** @throws CallPause if a call waits, although `exec` caught that. */
function endExec(frame: Frame): void {
  const { scope } = frame;
  frame.exec = undefined;
  if (typeof scope.calls === 'object' && scope.calls.pending !== undefined) throw scope.calls.pending;
  if (!frame.node.isFlow) scope.calls = undefined;
}

/** The end of a run in which a call of a tool waits for approval. What failed while it was stored replaces it. */
async function pausedBefore(frame: Frame, { request, call, saved }: CallPause): Promise<unknown> {
  try {
    const { node, prepRes } = frame;
    const checkpoint = checkpointOf(frame, DEFAULT_ACTION);
    const [point] = checkpoint.position.slice(-1);
    if (point !== undefined) {
      if (prepRes !== undefined) point.prepRes = toPlainJson(prepRes, `What prep of "${node.label}" returned`);
      point.exec = [...saved];
    }
    return await waitingAt(frame, checkpoint, callQuestion(request, call));
  } catch (error) {
    return error;
  }
}

/** The end of a run that waits for a person, after `post`. */
async function pausedAt(frame: Frame, request: Pause): Promise<PausedError> {
  const { node } = frame;
  if (!node.unit[canPause]) {
    throw new AppError(
      'bad-input',
      `post of "${node.label}" returned a pause, but the node has no answer(shared, input).`,
    );
  }
  return waitingAt(frame, checkpointOf(frame, DEFAULT_ACTION), request);
}

/** Passes the checkpoint of a run that waits to `onCheckpoint` too, to outlive this process. */
async function waitingAt(frame: Frame, unasked: Checkpoint, request: PauseRequest & PausedCall): Promise<PausedError> {
  const { run, node } = frame;
  const checkpoint = await pausedCheckpoint(unasked, request);
  if (run.hosted !== undefined) await reportStep(run.hosted, frame);
  // In a parallel lane, it is not complete until the other lanes have ended.
  if (frame.order === undefined) await run.options.onCheckpoint?.(checkpoint);
  return new PausedError(node.label, checkpoint, request);
}

/** Where a frame continues in a resumed run. */
interface Resumed {
  readonly point: ResumePoint;
  /** Whether the run ended after the node, with the action of the checkpoint. */
  readonly isDone: boolean;
  /** Whether the node waits for an answer. */
  readonly isWaiting: boolean;
}

/** The position of the frame in the checkpoint from which the run resumes; undefined once its walk has passed it. */
function resumeOf(frame: Frame): Resumed | undefined {
  if (frame.resume === undefined) return undefined;
  const [point, ...inner] = frame.resume;
  if (point === undefined) return undefined;
  frame.resume = inner.length > 0 ? inner : undefined;
  frame.resumedParts = resumedParts(point);
  const isLast = inner.length === 0;
  const isWaiting = isLast && frame.run.options.resume?.pause !== undefined;
  return { point, isDone: isLast && !isWaiting, isWaiting };
}

/** The action name; `undefined`, `null` and `''` mean `default`. */
function actionName(action: unknown, frame: Frame): string {
  if (typeof action === 'string') return action === '' ? DEFAULT_ACTION : action;
  if (action === undefined || action === null) return DEFAULT_ACTION;
  throw new AppError(
    'bad-input',
    `post of "${frame.node.label}" in ${frame.path} returned a value of type ${typeof action}; an action is a string, or nothing for "default".`,
  );
}

function warnOfMissing(action: string, frame: Frame): void {
  const { node, run } = frame;
  const connected = node.actions.map((name) => `"${name}"`).join(', ') || 'none';
  const message =
    `"${node.label}" in ${frame.path} returned the action "${action}", which is not connected there ` +
    `(connected: ${connected}). The flow ends here; connect(node, null, action) ends it without this warning.`;
  const event = run.warn({ ...placeOf(frame), node: node.label }, action, message);
  frame.scope.visit?.span?.onEvent(event);
}

function reportStep(hosted: HostedRun, frame: Frame, checkpoint?: () => Checkpoint): void | Promise<void> {
  const { run, shared } = frame;
  return hosted.stepped({ ...placeOf(frame), at: run.micros(), shared, part: partOf(frame), checkpoint });
}

function placeOf(frame: Frame): { path: string; visit: number } {
  return { path: frame.pathOf(frame.node), visit: frame.visitsOf(frame.node) };
}

/** The item or branch whose state the hooks in a frame get; undefined if that is the shared state of the run. */
function partOf(frame: Frame): HostedPart | undefined {
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
    if (at.lane !== undefined) return { path: pathOf(at, at.lane), previous: previousOf(at.path, at.lane) };
  }
  return undefined;
}

function pathOf(frame: Frame, { isItem }: Lane): string {
  return isItem ? frame.path : frame.pathOf(frame.node);
}

function previousOf(path: string, { index, isItem, isParallel }: Lane): string | undefined {
  if (!isItem || isParallel || index === 0) return undefined;
  return `${path.slice(0, -`[${index}]`.length)}[${index - 1}]`;
}
