// What it takes to compare two versions of a flow with 200 nodes and to draw what changed: two readings, the comparison, and the layout
// of both in one drawing. The limit is for the comparison and the drawing, after the versions were read.
import { drawFlow } from '../src/flows/layout/drawing.ts';
import { layoutFlow } from '../src/flows/layout/flowLayout.ts';
import { compareFlows } from '../src/flows/project/flowChanges.ts';
import { readVersion } from '../src/flows/project/versionReader.ts';
import { flowSource, syntheticFlow } from './support/syntheticFlow.ts';

const NODES = 200;
const ROUNDS = 15;
const LIMIT_MS = 100;

const edges = syntheticFlow(NODES);
const before = flowSource(NODES, edges);
const after = flowSource(
  NODES + 5,
  syntheticFlow(NODES + 5).filter((_, index) => index % 20 !== 0),
);
const times: { read: number; compare: number }[] = [];
let counts = '';
for (let round = 0; round < ROUNDS; round += 1) {
  const started = performance.now();
  const [one, other] = await Promise.all(
    [before, after].map((text) => readVersion('/flow.ts', async (path) => (path === '/flow.ts' ? text : undefined))),
  );
  if (one === undefined || other === undefined) throw new Error('Nothing was read.');
  const read = performance.now();
  const { file, changes } = compareFlows(one, other);
  const [graph] = file.flows;
  if (graph === undefined) throw new Error('The flow was not read.');
  const { nodes } = drawFlow(layoutFlow(graph, { flows: file.flows, isWrapped: true }));
  times.push({ read: read - started, compare: performance.now() - read });
  counts = `${nodes.length} nodes, ${changes.length} changes`;
}
const median = (values: readonly number[]): number =>
  Math.round(values.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN);
const compare = median(times.map((each) => each.compare));
process.stdout.write(
  `two versions (${counts}): read in ${median(times.map((each) => each.read))} ms, compared and laid out in ${compare} ms (limit ${LIMIT_MS})\n`,
);
process.exitCode = compare <= LIMIT_MS ? 0 : 1;
