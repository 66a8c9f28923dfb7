import type { FlowFile, FlowGraph } from './graph.ts';

/** Which flow of a file to run, as a run's request has it. */
export interface FlowChoice {
  /** The id of its graph, which is the name of its variable. */
  readonly flow: string;
  /** Its name in trace events, if the file runs it itself. */
  readonly flowName?: string;
}

/** How to ask a run for a flow. */
export function choiceOf({ id, label, runs }: FlowGraph): FlowChoice {
  return { flow: id, ...(runs.length > 0 && { flowName: label }) };
}

/** The choice of a flow by its variable or its name; a name that the source does not show is passed on as it is. */
export function findChoice({ flows }: Pick<FlowFile, 'flows'>, name: string): FlowChoice {
  const flow =
    flows.find(({ id }) => id === name) ??
    flows.find(({ label, runs }) => label === name && runs.length > 0) ??
    flows.find(({ label }) => label === name);
  return flow === undefined ? { flow: name } : choiceOf(flow);
}

/** The main flow of a file: one that it runs, or else one that is not nested in another. */
export function mainFlow({ flows }: Pick<FlowFile, 'flows'>): FlowGraph | undefined {
  const nested = new Set(flows.flatMap(({ nodes }) => nodes.flatMap(({ flow }) => flow ?? [])));
  const outer = flows.filter(({ id }) => !nested.has(id));
  return outer.find(({ runs }) => runs.length > 0) ?? outer[0] ?? flows[0];
}
