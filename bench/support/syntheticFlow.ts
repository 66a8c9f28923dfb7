import { randomFrom } from '../../test/random.ts';

/** A connection of a synthetic flow, by the numbers of its nodes; a target of null ends the flow. */
export interface SyntheticEdge {
  readonly source: number;
  readonly target: number | null;
  readonly action: string;
}

/**
 * A flow like those that programs write: stages of a few nodes each, decisions that skip some, retries that go back, and one
 * node for failures that a tenth of the others lead to. Equal numbers make equal flows.
 */
export function syntheticFlow(count: number, seed = 1): SyntheticEdge[] {
  const random = randomFrom(seed);
  const edges: SyntheticEdge[] = [];
  const failures = count - 1;
  for (let source = 0; source < failures; source += 1) {
    const ahead = Math.min(failures - 1, source + 1 + Math.floor(random() * 3));
    edges.push({ source, target: ahead > source ? ahead : null, action: 'default' });
    if (random() < 0.35) {
      edges.push({ source, target: Math.min(failures - 1, source + 2 + Math.floor(random() * 5)), action: 'skip' });
    }
    if (random() < 0.15)
      edges.push({ source, target: Math.max(0, source - Math.floor(random() * 6)), action: 'again' });
    if (random() < 0.1) edges.push({ source, target: failures, action: 'failed' });
  }
  edges.push({ source: failures, target: null, action: 'default' });
  return edges;
}

/** The source of a module that makes this flow. */
export function flowSource(count: number, edges: readonly SyntheticEdge[]): string {
  const lines = [
    "import { Flow, Node } from 'farwharf/agents';",
    '',
    'interface Shared { input: string; count: number }',
    '',
  ];
  const actions = Map.groupBy(edges, ({ source }) => source);
  for (let node = 0; node < count; node += 1) {
    const returned = (actions.get(node) ?? []).map(({ action }) => action);
    lines.push(
      `/** Does step ${node} of the work. It is followed by others. */`,
      `class Step${node} extends Node<Shared> {`,
    );
    lines.push('  override post(shared: Shared): string {', '    shared.count += shared.input.length;');
    for (const action of returned.slice(1))
      lines.push(`    if (shared.count % 7 === ${action.length}) return '${action}';`);
    lines.push(`    return '${returned[0] ?? 'default'}';`, '  }', '}', `const step${node} = new Step${node}();`, '');
  }
  lines.push('export const flow = new Flow<Shared>({ start: step0 })');
  for (const { source, target, action } of edges) {
    lines.push(`  .connect(step${source}, ${target === null ? 'null' : `step${target}`}, '${action}')`);
  }
  return `${lines.join('\n')};\n`;
}
