import type { FlowFile, FlowGraph, FlowNode, KeyAccess, SourceRange } from '../graph/graph.ts';
import { editDistance } from '../../core/text/similar.ts';
import { type Examined, type Fix, type FlowDiagnostic, MAX_FAULTS, MAX_RELATED, placeOfNode } from './diagnostic.ts';

/** The keys that are certainly set, one bit for each; undefined if any may be. */
type Keys = Uint32Array | undefined;

/** The state of a walk along the paths through one flow and the flows nested in it. */
interface Walk {
  readonly file: FlowFile;
  readonly numbers: ReadonlyMap<string, number>;
  /** Undefined if only the keys that are written after a flow are needed. */
  readonly report: ((missing: Missing) => void) | undefined;
  /** How many more node visits are followed; limited, because nested flows multiply them. */
  readonly left: { visits: number };
}

interface Missing {
  readonly graph: FlowGraph;
  readonly node: FlowNode;
  readonly access: KeyAccess;
}

// Shorter names are similar by chance; longer ones are not compared.
const [MIN_COMPARED, LONG_KEY, MAX_COMPARED, MAX_KEYS] = [4, 6, 100, 1_000];
const MAX_DEPTH = 20;
const MAX_VISITS = 200_000;

/**
 * Keys of the shared state that are read on a path on which nothing has written them. If the initial state of a run is unknown,
 * only keys that the flow itself creates elsewhere are reported, and only as a hint.
 */
export function unwrittenKeys(examined: Examined): FlowDiagnostic[] {
  const { file, graph } = examined;
  if (graph.start === undefined || file.flows.some((other) => other.nodes.some(({ flow }) => flow === graph.id)))
    return [];
  const runs = graph.runs.map(({ keys }) => keys);
  const isKnown = runs.length > 0 && runs.every((keys) => keys !== undefined);
  const initialKeys = isKnown ? runs.reduce((a, b) => a?.filter((key) => b?.includes(key))) : [];
  const writers = Map.groupBy(writersOf(file, graph), ({ key }) => key);
  const missing = new Map<string, Missing>();
  const report = (unwritten: Missing): void => {
    const { access } = unwritten;
    // With an unknown initial state, a key that no node creates is probably an input, unless it looks like one that is written.
    const isCreated = writers.get(access.key)?.some(({ creates }) => creates) === true;
    const isMisspelled = !writers.has(access.key) && misspelled(access.key, writers.keys()) !== undefined;
    const isReported = isKnown || isCreated || isMisspelled;
    if (missing.size < MAX_FAULTS && isReported) missing.set(placeOf(access.range), unwritten);
  };
  // Only keys that are read matter; in large flows they are a small part of all keys.
  const read = file.flows.flatMap(({ nodes }) => nodes.flatMap(({ reads }) => reads.map(({ key }) => key)));
  const numbers = new Map([...new Set(read)].map((key, number) => [key, number]));
  const walk = { file, numbers, report, left: { visits: MAX_VISITS } };
  followKeys(walk, graph, withKeys(walk, new Uint32Array((numbers.size >> 5) + 1), initialKeys ?? []));
  return [...missing.values()].map((unwritten) =>
    describe(examined, unwritten, {
      isKnown,
      writers: writers.get(unwritten.access.key) ?? [],
      meant: writers.has(unwritten.access.key) ? undefined : misspelled(unwritten.access.key, writers.keys()),
    }),
  );
}

/** The written key that a key is probably a misspelling of. A plural is another key. */
function misspelled(key: string, writtenKeys: Iterable<string>): string | undefined {
  const limit = key.length < LONG_KEY ? 1 : 2;
  if (key.length < MIN_COMPARED || key.length > MAX_COMPARED) return undefined;
  return [...writtenKeys]
    .slice(0, MAX_KEYS)
    .find((other) => other !== `${key}s` && key !== `${other}s` && editDistance(key, other, limit) <= limit);
}

/** The access with another key, where the source has the key as it is. */
function renamed({ key, range }: KeyAccess, to: string): Fix[] {
  const isPlain = range.end.offset - range.start.offset === key.length && /^[\w$]+$/.test(to);
  return isPlain ? [{ title: `Change to "${to}"`, edits: [{ range, text: to }] }] : [];
}

function describe(
  examined: Examined,
  { graph, node, access }: Missing,
  {
    isKnown,
    writers,
    meant,
  }: { readonly isKnown: boolean; readonly writers: readonly Writer[]; readonly meant: string | undefined },
): FlowDiagnostic {
  const { file } = examined;
  const { key, range } = access;
  const who = writers.length === 0 ? 'nothing writes it' : 'not every path to this node writes it first';
  return {
    code: 'unwritten-key',
    severity: isKnown || meant !== undefined ? 'warning' : 'hint',
    message:
      meant !== undefined
        ? `"${node.label}" reads shared.${key}, but nothing writes it. Did you mean "${meant}"?`
        : `"${node.label}" reads shared.${key}, but ${who}. Write it in an earlier node, pass it to run(), or read it with a default.`,
    range: range.file === file.file ? range : placeOfNode({ ...examined, graph }, node),
    related: writers
      .slice(0, MAX_RELATED)
      .map((writer) => ({ message: `"${writer.label}" writes it`, range: writer.access.range })),
    fixes: meant === undefined ? [] : renamed(access, meant),
    flow: graph.id,
    node: node.id,
  };
}

interface Writer {
  readonly key: string;
  readonly label: string;
  readonly access: KeyAccess;
  /** Whether the key need not exist before: `shared.list.push(x)` and `shared.count += 1` change what is there. */
  readonly creates: boolean;
}

/** The keys that a flow and the flows nested in it write. */
function writersOf({ flows }: FlowFile, outermost: FlowGraph): Writer[] {
  const byId = new Map(flows.map((graph) => [graph.id, graph]));
  const writers: Writer[] = [];
  // The set grows during the loop.
  const graphs = new Set([outermost]);
  for (const { nodes } of graphs) {
    for (const { label, reads, writes, flow } of nodes) {
      const changed = new Set(reads.filter(({ isGuarded }) => !isGuarded).map(({ range }) => placeOf(range)));
      for (const access of writes) {
        writers.push({ key: access.key, label, access, creates: !changed.has(placeOf(access.range)) });
      }
      const inner = flow === undefined ? undefined : byId.get(flow);
      if (inner !== undefined) graphs.add(inner);
    }
  }
  return writers;
}

function placeOf({ file, start }: SourceRange): string {
  return `${file} ${start.offset}`;
}

/**
 * Finds the keys that are certainly written on all paths through a flow, by iterating to a fixed point: where paths meet, only
 * the keys written on all of them are certain. Returns the certain keys after each action that ends the flow.
 */
function followKeys(walk: Walk, graph: FlowGraph, entry: Keys, depth = 0): ReadonlyMap<string, Keys> {
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  const exits = new Map(graph.edges.map((edge) => [`${edge.source}:${edge.action}`, edge.target]));
  const before = new Map<string, Keys>();
  const endings = new Map<string, Keys>();
  // A set keeps the order of the nodes to visit, each of them once.
  const left = new Set<string>();
  const arrive = (id: string, keys: Keys): void => {
    const isVisited = before.has(id);
    const met = isVisited ? meet(before.get(id), keys) : keys;
    if (isVisited && isSame(met, before.get(id))) return;
    before.set(id, met);
    left.add(id);
  };
  const starts = graph.isBranches === true ? graph.nodes.map(({ id }) => id) : [graph.start];
  for (const start of starts) if (start !== undefined) arrive(start, entry);
  for (const id of left) {
    left.delete(id);
    const node = byId.get(id);
    if (node === undefined) continue;
    walk.left.visits -= 1;
    if (walk.left.visits < 0) return endings;
    for (const [action, keys] of leaving({ ...walk, report: undefined }, node, before.get(id), depth)) {
      const target = exits.get(`${id}:${action}`);
      if (target !== undefined && target !== null) arrive(target, keys);
      else endings.set(action, endings.has(action) ? meet(endings.get(action), keys) : keys);
    }
  }
  for (const [id, keys] of walk.report === undefined ? [] : before) {
    const node = byId.get(id);
    if (node !== undefined) reportReads(walk, { graph, node, keys, depth });
  }
  return endings;
}

function leaving(walk: Walk, node: FlowNode, keys: Keys, depth: number): [action: string, keys: Keys][] {
  // A node that may write any key may have written all of them.
  const reached = node.unreadKeys.length > 0 ? undefined : keys;
  const inner = depth < MAX_DEPTH ? walk.file.flows.find(({ id }) => id === node.flow) : undefined;
  // Items and branches write to states of their own.
  const isShared = inner !== undefined && inner.isBranches !== true && !isEach(node);
  const endings = !isShared ? undefined : followKeys(walk, inner, reached, depth + 1);
  return node.actions.known.map(({ action, written }) => {
    const behind = endings?.has(action) === true ? endings.get(action) : reached;
    return [action, withKeys(walk, behind, written)];
  });
}

interface At {
  readonly graph: FlowGraph;
  readonly node: FlowNode;
  readonly keys: Keys;
  readonly depth: number;
}

function reportReads(walk: Walk, { graph, node, keys, depth }: At): void {
  if (keys === undefined) return;
  const preparedKeys = new Set(node.writes.filter(({ hook }) => hook === 'prep').map(({ key }) => key));
  for (const access of node.reads) {
    const isOwn = access.isOwn || (access.hook === 'post' && preparedKeys.has(access.key));
    if (!access.isGuarded && !isOwn && !hasKey(walk, keys, access.key)) walk.report?.({ graph, node, access });
  }
  const inner = depth < MAX_DEPTH ? walk.file.flows.find(({ id }) => id === node.flow) : undefined;
  if (inner === undefined || node.unreadKeys.length > 0) return;
  // An item has the keys that itemState returns, which is code that the reader does not follow.
  if (!isEach(node)) followKeys(walk, inner, keys, depth + 1);
}

/** Whether the node is a flow that runs for each item of an array. */
function isEach({ flow, type }: FlowNode): boolean {
  return flow !== undefined && type !== 'flow';
}

function hasKey({ numbers }: Walk, keys: Uint32Array, key: string): boolean {
  const number = numbers.get(key) ?? 0;
  return (((keys[number >> 5] ?? 0) >>> (number & 31)) & 1) === 1;
}

function withKeys({ numbers }: Walk, keys: Keys, added: readonly string[]): Keys {
  if (keys === undefined) return undefined;
  const all = keys.slice();
  for (const key of added) {
    const number = numbers.get(key);
    if (number !== undefined) all[number >> 5] = (all[number >> 5] ?? 0) | (1 << (number & 31));
  }
  return all;
}

function meet(a: Keys, b: Keys): Keys {
  if (a === undefined || b === undefined) return a ?? b;
  return a.map((word, index) => word & (b[index] ?? 0));
}

function isSame(a: Keys, b: Keys): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.every((word, index) => word === b[index]);
}
