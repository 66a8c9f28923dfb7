import { AppError } from '../../core/errors.ts';
import { toPlainJson } from '../records/plainJson.ts';
import type { Checkpoint, ResumePoint } from '../records/schemas.ts';
import type { Frame } from './unit.ts';

/**
 * The checkpoint after the node that a walk has just finished.
 *
 * @throws AppError `bad-input` that names the key of the shared state, or the flow's `prep` result, that JSON cannot store.
 */
export function checkpointOf(frame: Frame, shared: unknown, action: string): Checkpoint {
  const plain = toPlainJson(shared, 'shared');
  if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
    throw new AppError('bad-input', 'A run can only be resumed if its shared state is an object. Use { … } for it.');
  }
  const position: ResumePoint[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) position.unshift(pointOf(at, at !== frame));
  return {
    version: 1,
    path: frame.pathOf(frame.node),
    visit: frame.visitsOf(frame.node),
    action,
    shared: plain,
    position,
  };
}

function pointOf(frame: Frame, isUnderWay: boolean): ResumePoint {
  const { node, prepRes } = frame;
  const point: ResumePoint = { node: node.label, visit: frame.visitsOf(node), visits: frame.visits };
  if (!isUnderWay || prepRes === undefined) return point;
  return { ...point, prepRes: toPlainJson(prepRes, `What prep of "${node.label}" returned`) };
}
