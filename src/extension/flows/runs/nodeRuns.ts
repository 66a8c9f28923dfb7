import * as l10n from '@vscode/l10n';
import type { FlowFile, FlowGraph, FlowNode } from '../../../flows/graph/graph.ts';
import { mergeStates, type NodeState } from '../../../flows/run/protocol/nodeState.ts';
import { unitOfPath } from '../../../flows/graph/tracePath.ts';
import { formatDollars, formatMicros, formatShort } from '../../../core/text/format.ts';

/** A node of the source with its state in a run. */
export interface NodeRun {
  readonly node: FlowNode;
  readonly state: NodeState;
}

/** The nodes of a flow that a run has visited. Visits of one node under several visits of its flow are added up. */
export function nodeRunsOf(
  file: Pick<FlowFile, 'flows'>,
  flow: FlowGraph,
  states: ReadonlyMap<string, NodeState>,
): readonly NodeRun[] {
  const runs = new Map<string, NodeRun>();
  for (const [path, state] of states) {
    const unit = unitOfPath(file, flow, path);
    if (unit?.node === undefined) continue;
    const key = `${unit.graph.id} ${unit.node.id}`;
    const before = runs.get(key)?.state;
    runs.set(key, { node: unit.node, state: before === undefined ? state : mergeStates(before, state) });
  }
  return [...runs.values()];
}

/** `×12 · 3.4 s · 8.1k tokens · $0.02 · → retry`: the state of a node in one short line. */
export function describeNodeRun({ status, visits, micros, lastAction, usage, error }: NodeState): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const parts = [
    status === 'running' ? l10n.t('running') : undefined,
    visits > 1 ? `×${visits}` : undefined,
    status === 'running' && micros === 0 ? undefined : formatMicros(micros),
    tokens > 0 ? l10n.t('{0} tokens', formatShort(tokens)) : undefined,
    usage.cost > 0 ? formatDollars(usage.cost) : undefined,
    error === undefined ? undefined : l10n.t('failed: {0}', error),
    lastAction === undefined ? undefined : `→ ${lastAction}`,
  ];
  return parts.filter((part) => part !== undefined).join(' · ');
}
