import type * as t from '@babel/types';
import { DEFAULT_ACTION } from '../../agents/graph/unit.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import {
  alternatives,
  type Connection,
  type FlowDraft,
  type Instance,
  type Origin,
  type Scope,
  UNDEFINED,
  type Value,
} from './values.ts';

// Limits the values that are suggested as inputs of a run.
const [MAX_PLAIN_DEPTH, MAX_PLAIN_PARTS, MAX_PLAIN_CHARACTERS] = [5, 100, 10_000];

export function createDraft(): FlowDraft {
  return {
    nodes: new Set(),
    branches: new Map(),
    connections: new Set(),
    exits: new Map(),
    replaced: [],
    start: undefined,
    startOrigin: undefined,
    startScope: undefined,
    runs: [],
    unread: [],
  };
}

/** Records that a part of a flow is unknown, with its position. */
export function hide(
  interpreter: AbstractInterpreter,
  draft: FlowDraft | undefined,
  origin: Origin,
  reason: string,
): void {
  const { file, node } = origin;
  if (interpreter.findings.unread.has(node)) return;
  interpreter.findings.unread.set(node, { origin, reason });
  draft?.unread.push({ reason, range: file.range(node) });
}

/** Evaluates `flow.start = …` and the option `start`. */
export function setStart(
  interpreter: AbstractInterpreter,
  flow: Instance,
  value: Value,
  origin: Origin,
  scope: Scope,
): void {
  const { flow: draft } = flow;
  if (draft === undefined || value.type === 'undefined') return;
  draft.startOrigin = origin;
  draft.startScope = scope;
  const [first, ...others] = alternatives(value);
  if (first?.type === 'instance' && others.length === 0) {
    draft.start = first;
    draft.nodes.add(first);
    return;
  }
  const why = first?.type === 'unknown' ? first.reason : `\`${origin.file.snippet(origin.node)}\` is not a single node`;
  hide(interpreter, draft, origin, `The start of the flow cannot be read: ${why}.`);
}

/** Evaluates the option `branches` of a ParallelFlow. */
export function setBranches(interpreter: AbstractInterpreter, flow: Instance, value: Value, origin: Origin): void {
  const { flow: draft } = flow;
  if (draft === undefined) return;
  const entries = value.type === 'object' ? [...value.fields] : [];
  for (const [name, branch] of entries) {
    if (branch.type === 'instance' && !draft.nodes.has(branch)) {
      draft.nodes.add(branch);
      draft.branches.set(branch, name);
    } else {
      const why = branch.type === 'unknown' ? branch.reason : 'it is not a single node of its own';
      hide(interpreter, draft, origin, `The branch "${name}" cannot be read: ${why}.`);
    }
  }
  if (value.type === 'object' && !value.isOpen) return;
  const why = value.type === 'unknown' ? value.reason : `\`${origin.file.snippet(origin.node)}\` cannot be read`;
  hide(interpreter, draft, origin, `There may be more branches: ${why}.`);
}

/** Evaluates a call of `connect`: one connection, or one for each alternative. */
export function connectInDraft(
  interpreter: AbstractInterpreter,
  flow: Instance,
  node: t.CallExpression,
  args: readonly Value[],
  scope: Scope,
): void {
  const { flow: draft } = flow;
  if (draft === undefined) return;
  const { file } = scope;
  const argument = (index: number): Origin => ({ file, node: node.arguments[index] ?? node });
  const [source = UNDEFINED, target = UNDEFINED, action = UNDEFINED] = args;
  const sources = nodesOf(interpreter, draft, source, argument(0), 'source');
  const targets = nodesOf(interpreter, draft, target, argument(1), 'target');
  const actions = actionsOf(interpreter, draft, action, argument(2));
  for (const from of sources) {
    if (from === null) continue;
    draft.nodes.add(from);
    for (const to of targets) {
      if (to !== null) draft.nodes.add(to);
      for (const { name, origin } of actions) {
        interpreter.limit.spend('connection');
        const connection = { source: from, target: to, action: name, file, call: node, actionOrigin: origin, scope };
        const exits = draft.exits.get(from) ?? new Map<string, Connection>();
        draft.exits.set(from, exits);
        const replaced = exits.get(name);
        // The last connection of a pair wins, unless it is one of several alternatives.
        if (replaced !== undefined && replaced.call !== node && !interpreter.branches.isConditional) {
          draft.connections.delete(replaced);
          draft.replaced.push(replaced);
        }
        exits.set(name, connection);
        draft.connections.add(connection);
      }
    }
  }
}

function nodesOf(
  interpreter: AbstractInterpreter,
  draft: FlowDraft,
  value: Value,
  origin: Origin,
  role: 'source' | 'target',
): (Instance | null)[] {
  return alternatives(value).flatMap((one) => {
    if (one.type === 'instance') return [one];
    if (one.type === 'null' && role === 'target') return [null];
    const why = one.type === 'unknown' ? one.reason : `\`${origin.file.snippet(origin.node)}\` is not a node`;
    hide(interpreter, draft, origin, `The ${role} of a connection cannot be read: ${why}.`);
    return [];
  });
}

function actionsOf(
  interpreter: AbstractInterpreter,
  draft: FlowDraft,
  value: Value,
  origin: Origin,
): { name: string; origin: Origin | undefined }[] {
  return alternatives(value).flatMap((one) => {
    if (one.type === 'undefined') return [{ name: DEFAULT_ACTION, origin: undefined }];
    if (one.type === 'literal' && typeof one.value === 'string') {
      return [{ name: one.value === '' ? DEFAULT_ACTION : one.value, origin: one.origin }];
    }
    const why = one.type === 'unknown' ? one.reason : `\`${origin.file.snippet(origin.node)}\` is not text`;
    hide(interpreter, draft, origin, `The action of a connection cannot be read: ${why}.`);
    return [];
  });
}

/** Records a call of `run`, with the keys and values of the initial shared state. */
export function noteRun(
  interpreter: AbstractInterpreter,
  flow: Instance,
  node: t.Node,
  shared: Value,
  { file }: Scope,
): void {
  interpreter.limit.spend('fact', shared.type === 'object' ? shared.fields.size + 1 : 1);
  const keys = shared.type === 'object' && !shared.isOpen ? [...shared.fields.keys()] : undefined;
  const object = shared.type === 'object' ? shared.origin : undefined;
  const fields = shared.type === 'object' && !shared.isOpen ? [...shared.fields] : [];
  const plain = fields.map(([key, value]) => [key, plainData(value)] as const);
  const values = plain.filter(([, value]) => value !== undefined);
  flow.flow?.runs.push({ origin: { file, node }, keys, values, object });
}

/** A value as JSON has it: a text, number, boolean, null, or an array or object of these; undefined for all others. */
function plainData(value: Value, depth = 0): unknown {
  if (value.type === 'literal')
    return typeof value.value === 'string' && value.value.length > MAX_PLAIN_CHARACTERS ? undefined : value.value;
  if (value.type === 'null') return null;
  if (depth > MAX_PLAIN_DEPTH || (value.type !== 'array' && value.type !== 'object') || value.isOpen) return undefined;
  const parts = value.type === 'array' ? [...value.items.entries()] : [...value.fields];
  if (parts.length > MAX_PLAIN_PARTS) return undefined;
  const entries = parts.map(([key, part]) => [key, plainData(part, depth + 1)] as const);
  if (entries.some(([, part]) => part === undefined)) return undefined;
  return value.type === 'array' ? entries.map(([, part]) => part) : Object.fromEntries(entries);
}
