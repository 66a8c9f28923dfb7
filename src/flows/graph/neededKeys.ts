import type { FlowFile, FlowGraph } from './graph.ts';
import { skipsMain } from './mainGuard.ts';

type Inputs = ReadonlyMap<string, unknown>;

/**
 * The keys of the shared state that a run of a flow needs, with their values as far as the source has them: those that it reads and
 * none of its nodes writes, and those of a run that the file only starts as the main module. Empty if the file starts the run itself.
 *
 * @param text of the file.
 */
export function neededKeys(file: Pick<FlowFile, 'flows'>, flow: FlowGraph, text: string): Inputs {
  const [run] = flow.runs;
  if (run !== undefined && !skipsMain(text)) return new Map();
  const keys = new Set([...(run?.keys ?? []), ...readKeys(file, flow)]);
  const values = new Map(run?.values);
  return new Map([...keys].map((key) => [key, values.get(key)]));
}

/** The keys that a flow reads and none of its nodes writes. */
function readKeys(file: Pick<FlowFile, 'flows'>, flow: FlowGraph): readonly string[] {
  const graphs = withNested(file, flow, new Set());
  const writtenKeys = new Set(
    graphs.flatMap(({ nodes }) => nodes.flatMap(({ writes }) => writes.map(({ key }) => key))),
  );
  const read = graphs.flatMap(({ nodes }) =>
    nodes.flatMap(({ reads }) => reads.filter(({ isOwn, isGuarded }) => !isOwn && !isGuarded).map(({ key }) => key)),
  );
  return [...new Set(read)].filter((key) => !writtenKeys.has(key));
}

function withNested({ flows }: Pick<FlowFile, 'flows'>, flow: FlowGraph, seen: Set<string>): readonly FlowGraph[] {
  if (seen.has(flow.id)) return [];
  seen.add(flow.id);
  const nested = flow.nodes.flatMap((node) => flows.filter(({ id }) => id === node.flow));
  return [flow, ...nested.flatMap((inner) => withNested({ flows }, inner, seen))];
}
