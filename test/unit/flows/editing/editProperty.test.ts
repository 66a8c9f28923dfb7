import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { test } from 'node:test';
import { temporaryExamples } from '../../../../scripts/trackedFiles.ts';
import { applyEdits } from '../../../../src/flows/editing/editFlow.ts';
import type { FlowOperation } from '../../../../src/flows/graph/flowOperation.ts';
import { FlowProject } from '../../../../src/flows/project/flowProject.ts';
import type { FlowGraph } from '../../../../src/flows/graph/graph.ts';
import { TIMES } from '../../../random.ts';
import { generateFlow, Random } from '../flowGenerator.ts';
import { typeErrorsIn } from '../typeCheck.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const EXAMPLES = join(temporaryExamples(), 'agents');
const SEQUENCES = 8 * TIMES;
const STEPS = 5;

type Exits = Map<string, string | null>;
interface Model {
  start: string | undefined;
  exits: Exits;
}

function modelOf({ start, edges }: FlowGraph): Model {
  return { start, exits: new Map(edges.map(({ source, action, target }) => [`${source}:${action}`, target])) };
}

/** What the operation means for the graph, independent of how it is done. */
function applied(graph: FlowGraph, operation: FlowOperation, newNode: string): Model {
  const { start, exits } = modelOf(graph);
  const keep = (isKept: (source: string, target: string | null) => boolean): Exits =>
    new Map([...exits].filter(([exit, target]) => isKept(exit.slice(0, exit.lastIndexOf(':')), target)));
  switch (operation.type) {
    case 'connect':
      return { start, exits: exits.set(`${operation.source}:${operation.action}`, operation.target) };
    case 'deleteEdge':
      exits.delete(operation.edge);
      return { start, exits };
    case 'deleteNode':
      return {
        start: start === operation.node ? undefined : start,
        exits: keep((source, target) => source !== operation.node && target !== operation.node),
      };
    case 'setStart':
      return { start: operation.node, exits };
    case 'renameAction': {
      const target = exits.get(`${operation.source}:${operation.action}`);
      exits.delete(`${operation.source}:${operation.action}`);
      if (target !== undefined) exits.set(`${operation.source}:${operation.newAction}`, target);
      return { start, exits };
    }
    case 'addNode': {
      if (operation.from === undefined) return { start: newNode, exits };
      const exit = `${operation.from.node}:${operation.from.action}`;
      const before = exits.get(exit);
      exits.set(exit, newNode);
      if (before !== undefined) exits.set(`${newNode}:default`, before);
      return { start, exits };
    }
    case 'extractFlow': {
      const [only = ''] = operation.nodes;
      const outer = keep((source) => source !== only);
      for (const [exit, target] of outer) if (target === only) outer.set(exit, newNode);
      for (const [exit, target] of exits) {
        if (exit.startsWith(`${only}:`) && target !== only)
          outer.set(`${newNode}:${exit.slice(only.length + 1)}`, target);
      }
      return { start: start === only ? newNode : start, exits: outer };
    }
    default:
      return operation satisfies never;
  }
}

function randomOperation(graph: FlowGraph, random: Random, serial: number): FlowOperation | undefined {
  const { id: flow, nodes, edges } = graph;
  const withAction = nodes.filter(({ actions }) => actions.known.length > 0);
  if (withAction.length === 0) return undefined;
  const node = random.pick(withAction);
  const { action } = random.pick(node.actions.known);
  const kind = random.pick([
    'connect',
    'connect',
    'deleteEdge',
    'deleteNode',
    'setStart',
    'addNode',
    'renameAction',
    'extractFlow',
  ] as const);
  switch (kind) {
    case 'connect': {
      const target = random.below(4) === 0 ? null : random.pick(nodes).id;
      return { type: kind, flow, source: node.id, target, action };
    }
    case 'deleteEdge':
      return edges.length === 0 ? undefined : { type: kind, flow, edge: random.pick(edges).id };
    case 'deleteNode':
      return nodes.length < 3 ? undefined : { type: kind, flow, node: random.pick(nodes).id };
    case 'setStart':
      return { type: kind, flow, node: random.pick(nodes).id };
    case 'addNode':
      return { type: kind, flow, className: `Added${serial}`, from: { node: node.id, action } };
    case 'renameAction':
      return action === 'default'
        ? undefined
        : { type: kind, flow, source: node.id, action, newAction: `renamed ${serial}` };
    case 'extractFlow':
      return { type: kind, flow, nodes: [node.id], name: `Extracted${serial}` };
    default:
      return kind satisfies never;
  }
}

const asKeys = ({ start, exits }: Model): unknown => [start, [...exits].toSorted(([a], [b]) => (a < b ? -1 : 1))];

test(`${SEQUENCES} sequences of edits give the graphs that were asked for, and code that type-checks`, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-edits-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const helpers = globSync('*.mts', { cwd: EXAMPLES });
    const examples = helpers.filter((name) => readFileSync(join(EXAMPLES, name), 'utf8').includes('new Flow')).sort();
    const counts = { done: 0, refused: 0 };
    const reasons = new Map<string, number>();
    for (let seed = 1; seed <= SEQUENCES; seed += 1) {
      const random = new Random(seed);
      const example = seed % 2 === 0 ? random.pick(examples) : undefined;
      const place = join(folder, `seed${seed}`);
      await mkdir(place);
      for (const name of example === undefined ? [] : helpers) {
        await writeFile(join(place, name), await readFile(join(EXAMPLES, name), 'utf8'));
      }
      const file = join(place, example ?? 'main.ts');
      let text = example === undefined ? generateFlow(random) : await readFile(join(EXAMPLES, example), 'utf8');
      const project = new FlowProject({
        version: (path) =>
          basename(path) in { 'print.mts': 1, 'recordedModel.mts': 1 } && example !== undefined ? 1 : undefined,
        read: (path) => readFileSync(path, 'utf8'),
      });
      for (let step = 0; step < STEPS; step += 1) {
        const before = project.read(file, text);
        const graph = random.pick(before.flows);
        const operation = randomOperation(graph, random, seed * 10 + step);
        if (operation === undefined) continue;
        const edit = project.edit(file, text, operation);
        if (!edit.ok) {
          counts.refused += 1;
          const reason = edit.reason.replace(/"[^"]*"/g, '"…"').replace(/`[^`]*`/g, '`…`');
          reasons.set(`${operation.type}: ${reason}`, (reasons.get(`${operation.type}: ${reason}`) ?? 0) + 1);
          continue;
        }
        counts.done += 1;
        const serial = seed * 10 + step;
        const newNode = operation.type === 'extractFlow' ? `extracted${serial}` : `added${serial}`;
        const classes = operation.type === 'renameAction' ? [] : (text.match(/^class [\s\S]*?^}/gm) ?? []);
        text = applyEdits(text, edit.edits);
        assert.deepEqual(
          classes.filter((one) => !text.includes(one)),
          [],
          'no class is touched',
        );
        const after = project.read(file, text);
        const what = `seed ${seed}, step ${step}: ${JSON.stringify(operation)}\n${text}`;
        const made = after.flows.find(({ id }) => id === graph.id);
        assert.ok(made !== undefined, what);
        const plain = (name: string): string => name.replace(/^build\./, '');
        const bare = ({ start, exits }: Model): Model => ({
          start: start === undefined ? undefined : plain(start),
          exits: new Map([...exits].map(([exit, target]) => [plain(exit), target === null ? null : plain(target)])),
        });
        assert.deepEqual(asKeys(bare(modelOf(made))), asKeys(bare(applied(graph, operation, newNode))), what);
        for (const other of before.flows) {
          if (other === graph || operation.type === 'renameAction') continue;
          const same = after.flows.find(({ id }) => id === other.id);
          assert.deepEqual(same && asKeys(modelOf(same)), asKeys(modelOf(other)), what);
        }
      }
      await writeFile(file, text);
    }
    t.diagnostic(`${counts.done} edits, ${counts.refused} refused`);
    for (const [reason, count] of reasons) t.diagnostic(`${count} x ${reason}`);
    assert.ok(counts.done > SEQUENCES * 2, `only ${counts.done} edits were done`);
    assert.equal(await typeErrorsIn(folder), '');
  } finally {
    await rm(folder, { recursive: true, maxRetries: 3 });
  }
});
