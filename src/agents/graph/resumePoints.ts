import { AppError } from '../../core/errors.ts';
import { toPlainJson } from '../records/plainJson.ts';
import type { Checkpoint, ResumedParts, ResumePoint } from '../records/recordSchemas.ts';
import { type FlowUnit, type Frame, type GraphNode, graphNodes } from './unit.ts';

/**
 * The checkpoint after the node that a walk has just finished.
 *
 * @throws AppError `bad-input` that names the key of the shared state, of the state of an item or branch, or the flow's `prep` result,
 * that JSON cannot store.
 */
export function checkpointOf(frame: Frame, action: string): Checkpoint {
  return {
    version: 1,
    path: frame.pathOf(frame.node),
    visit: frame.visitsOf(frame.node),
    action,
    shared: plainState(frame.run.shared, 'shared'),
    position: positionOf(frame),
  };
}

/** From the outermost flow to the current node of a frame. With `parts`, that node is a flow of parts in progress. */
export function positionOf(frame: Frame, parts?: ResumedParts): ResumePoint[] {
  const position: ResumePoint[] = [];
  let inner = parts;
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
    position.unshift(pointOf(at, at !== frame || parts !== undefined, inner));
    inner = at.lane?.save();
  }
  return position;
}

/** A state as plain data, for a checkpoint. */
export function plainState(state: unknown, name: string): Checkpoint['shared'] {
  const plain = toPlainJson(state, name);
  if (typeof plain === 'object' && plain !== null && !Array.isArray(plain)) return plain;
  throw new AppError('bad-input', `A run can only be resumed if ${name} is an object. Use { … } for it.`);
}

function pointOf(frame: Frame, isUnderWay: boolean, parts: ResumedParts | undefined): ResumePoint {
  const { node, prepRes } = frame;
  const point: ResumePoint = { node: node.label, visit: frame.visitsOf(node), visits: frame.visits };
  if (isUnderWay && prepRes !== undefined) {
    point.prepRes = toPlainJson(prepRes, `What prep of "${node.label}" returned`);
  }
  return parts === undefined ? point : { ...point, parts: [...parts.parts], part: parts.part };
}

/** The parts of a flow in a resumed run; undefined if the node of the point is not a flow of parts in progress. */
export function resumedParts({ parts, part }: ResumePoint): ResumedParts | undefined {
  return parts === undefined || part === undefined ? undefined : { parts, part };
}

/** Takes over the inner part of the parent's resume points, and returns the node of the checkpoint in this flow. */
export function resumeIn(frame: Frame, parent: Frame, flow: FlowUnit): GraphNode {
  frame.resume = parent.resume;
  parent.resume = undefined;
  const [point, ...inner] = frame.resume ?? [];
  const isWaiting = parent.run.options.resume?.pause !== undefined;
  const byLabel = new Map(flow[graphNodes].all.map((graphNode) => [graphNode.label, graphNode]));
  for (const [label, visits] of Object.entries(point?.visits ?? {})) {
    const graphNode = byLabel.get(label);
    // The walk enters a flow in progress, or a node that waits, once more and counts the same visit again.
    const isReentered = label === point?.node && (inner.length > 0 || isWaiting);
    if (graphNode !== undefined) frame.restoreVisits(graphNode, isReentered ? visits - 1 : visits);
  }
  const graphNode = byLabel.get(point?.node ?? '');
  if (graphNode !== undefined) return graphNode;
  throw new AppError(
    'bad-input',
    `The checkpoint is at "${point?.node}", but the flow "${flow.name}" has no such node. ` +
      'Give a renamed node its old name, or start the run from the beginning.',
  );
}
