import { toPlainJson } from './plainJson.ts';
import type { Checkpoint, ResumePoint } from './schemas.ts';
import type { Frame } from './unit.ts';

/**
 * The checkpoint behind the node that a walk has just finished.
 *
 * @throws AppError `bad-input` that names the key of the shared state, or the flow's `prep` result, that JSON cannot hold.
 */
export function checkpointOf(frame: Frame, shared: unknown, action: string): Checkpoint {
  const position: ResumePoint[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) position.unshift(pointOf(at, at !== frame));
  const { label } = frame.station;
  return {
    version: 1,
    path: `${frame.path}/${label}`,
    visit: frame.visits.get(frame.station) ?? 1,
    action,
    shared: toPlainJson(shared, 'shared') as Checkpoint['shared'],
    position,
  };
}

function pointOf({ station, visits, prepRes }: Frame, isUnderWay: boolean): ResumePoint {
  const point: ResumePoint = {
    node: station.label,
    visit: visits.get(station) ?? 1,
    visits: Object.fromEntries([...visits].map(([{ label }, count]) => [label, count])),
  };
  if (!isUnderWay || prepRes === undefined) return point;
  return {
    ...point,
    prepRes: toPlainJson(prepRes, `What prep of "${station.label}" returned`),
  };
}
