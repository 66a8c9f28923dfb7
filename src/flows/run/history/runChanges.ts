import type { RunTimeline } from '../protocol/runTimeline.ts';
import type { TimelineStep } from '../protocol/timelineStep.ts';

/** A node or connection that two runs of a flow used differently. */
export interface RunChange {
  /** `added` if only the second run has it, `removed` if only the first. */
  readonly kind: 'added' | 'removed' | 'changed';
  /** The path of the node in trace events, or of a connection that of its source. */
  readonly path: string;
  /** The action of the connection. */
  readonly action?: string | undefined;
  /** What differs; empty for what only one run has. */
  readonly text: string;
}

type Steps = readonly TimelineStep[];

/** The nodes and connections that two runs of a flow used differently, in the order in which they were first used. */
export function runChanges(before: RunTimeline, after: RunTimeline): readonly RunChange[] {
  const [one, other] = [before.steps, after.steps].map((steps) => Map.groupBy(steps, ({ path }) => path));
  const paths = new Set([...(other?.keys() ?? []), ...(one?.keys() ?? [])]);
  return [...paths].flatMap((path) => nodeChanges(path, one?.get(path) ?? [], other?.get(path) ?? []));
}

function nodeChanges(path: string, before: Steps, after: Steps): RunChange[] {
  const kind = before.length === 0 ? 'added' : after.length === 0 ? 'removed' : undefined;
  const text = kind === undefined ? differenceOf(before, after) : '';
  const node: RunChange[] = kind === undefined && text === '' ? [] : [{ kind: kind ?? 'changed', path, text }];
  const [one, other] = [before, after].map((steps) => new Set(steps.map(({ action }) => action ?? 'default')));
  const only = (
    here: ReadonlySet<string> | undefined,
    there: ReadonlySet<string> | undefined,
    edge: 'added' | 'removed',
  ): RunChange[] =>
    [...(here ?? [])].flatMap((action) => (there?.has(action) ? [] : [{ kind: edge, path, action, text: '' }]));
  return [...node, ...only(other, one, 'added'), ...only(one, other, 'removed')];
}

/** How the visits of a node differ; empty if they do not. Times, replays and retries do not count. */
function differenceOf(before: Steps, after: Steps): string {
  if (before.length !== after.length) return `${after.length} visits, before ${before.length}`;
  const at = after.findIndex((step, index) => keyOf(step) !== keyOf(before[index]));
  const [one, other] = [before[at], after[at]];
  if (one === undefined || other === undefined) return '';
  const visit = after.length === 1 ? '' : ` in visit ${at + 1}`;
  if (one.error !== other.error) return `${other.error ?? 'done'}, before ${one.error ?? 'done'}${visit}`;
  const [was, is] = [one.action ?? 'default', other.action ?? 'default'];
  return was === is ? `another shared state${visit}` : `returned "${is}", before "${was}"${visit}`;
}

function keyOf(step: TimelineStep | undefined): string {
  return JSON.stringify([step?.status, step?.error, step?.action, step?.changes]);
}
