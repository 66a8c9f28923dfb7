import type { FlowFile, FlowGraph, FlowNode } from '../graph/graph.ts';

/** A completion at the cursor. */
export interface FlowCompletion {
  readonly label: string;
  readonly kind: 'action' | 'node' | 'key';
  /** Replaces the text from `from` to the cursor. */
  readonly text: string;
  readonly from: number;
  /** A few words beside the label: what the action is for, who writes the key. */
  readonly detail: string;
}

// Enough for a call over several lines; more would cost time at each keystroke.
const LOOK_BACK = 2_000;
const IN_CONNECT = /\.connect\(\s*((?:[^,()]|\(\))*)$/;
const IN_TARGET = /\.connect\(\s*([^,()]+?)\s*,\s*([^,()]*)$/;
const IN_ACTION = /\.connect\(\s*([^,()]+?)\s*,\s*[^,()]+?\s*,\s*(['"`]?)([^'"`\n,()]*)$/;
const IN_MEMBER = /([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*\??\.\s*([\p{ID_Continue}$]*)$/u;
const IN_PATTERN = /\b(?:prep|post)\s*\(\s*\{(?:[^{}]*,)?\s*([\p{ID_Continue}$]*)$/u;
const HOOK_PARAMETER = /\b(?:prep|post)\s*\(\s*([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu;

/** A key of the shared state, and the labels of the nodes that use it. */
interface SharedKey {
  readonly key: string;
  readonly writers: readonly string[];
  readonly readers: readonly string[];
}

/**
 * Completions at the cursor: nodes and actions inside `connect`, keys after the shared state. The position is found in the text
 * itself, because a call that is being written rarely parses; the flows may be those of the last text that did.
 */
export function completionsAt({ flows }: FlowFile, text: string, offset: number): FlowCompletion[] {
  const before = text.slice(Math.max(0, offset - LOOK_BACK), offset);
  const action = IN_ACTION.exec(before);
  if (action !== null) {
    const [, source = '', quote = '', typed = ''] = action;
    return actionCompletions(flows, source, quote, offset - typed.length);
  }
  const target = IN_TARGET.exec(before);
  if (target !== null) return nodeCompletions(flows, offset - (target[2] ?? '').length, true);
  const source = IN_CONNECT.exec(before);
  if (source !== null) return nodeCompletions(flows, offset - (source[1] ?? '').length, false);
  const pattern = IN_PATTERN.exec(before);
  if (pattern !== null) return keyCompletions(flows, offset - (pattern[1] ?? '').length);
  const member = IN_MEMBER.exec(before);
  if (member === null) return [];
  const hook = [...before.matchAll(HOOK_PARAMETER)].at(-1);
  if (hook === undefined || hook[1] !== member[1] || !isInside(before.slice(hook.index))) return [];
  return keyCompletions(flows, offset - (member[2] ?? '').length);
}

/** Whether a text that begins with a hook ends inside its braces. */
function isInside(text: string): boolean {
  const count = (brace: string): number => text.split(brace).length;
  return count('{') > count('}');
}

/** Whether the source can refer to a node like this: by its id, with or without `this.` and the names of enclosing functions. */
function isNamed({ id }: FlowNode, written: string): boolean {
  const name = written.replace(/^this\./, '');
  return id === name || id.endsWith(`.${name}`);
}

function actionCompletions(flows: readonly FlowGraph[], source: string, quote: string, from: number): FlowCompletion[] {
  const byLabel = new Map<string, { readonly completion: FlowCompletion; readonly isFree: boolean }>();
  for (const { edges, nodes } of flows) {
    for (const node of nodes.filter((one) => isNamed(one, source))) {
      for (const { action } of node.actions.known) {
        const edge = edges.find((one) => one.source === node.id && one.action === action);
        const to = edge?.target === null ? 'ends the flow' : `leads to ${edge?.target}`;
        const detail = edge === undefined ? `returned by ${node.label}, not connected yet` : to;
        const text = quote === '' ? `'${action}'` : action;
        const completion: FlowCompletion = { label: action, kind: 'action', text, from, detail };
        byLabel.set(action, { completion, isFree: edge === undefined });
      }
    }
  }
  // Unconnected actions come first.
  return [...byLabel.values()].sort((a, b) => Number(b.isFree) - Number(a.isFree)).map(({ completion }) => completion);
}

function nodeCompletions(flows: readonly FlowGraph[], from: number, mayEnd: boolean): FlowCompletion[] {
  const completionsByLabel = new Map<string, FlowCompletion>();
  for (const { id, className, summary } of flows.flatMap(({ nodes }) => nodes)) {
    if (!/^#?[\p{ID_Start}$_][\p{ID_Continue}$.]*$/u.test(id)) continue; // inline: it has no name to write
    completionsByLabel.set(id, { label: id, kind: 'node', text: id, from, detail: summary ?? className });
  }
  const end: FlowCompletion = { label: 'null', kind: 'node', text: 'null', from, detail: 'ends the flow' };
  return mayEnd ? [...completionsByLabel.values(), end] : [...completionsByLabel.values()];
}

function keyCompletions(flows: readonly FlowGraph[], from: number): FlowCompletion[] {
  return keysOf(flows).map(({ key, writers, readers }) => {
    const detail = writers.length > 0 ? `written by ${writers.join(', ')}` : `read by ${readers.join(', ')}`;
    return { label: key, kind: 'key', text: key, from, detail: detail };
  });
}

/** All keys that flows use or start with, in alphabetical order. */
function keysOf(flows: readonly FlowGraph[]): SharedKey[] {
  const usesByKey = new Map<string, { writers: Set<string>; readers: Set<string> }>();
  const usesOf = (key: string): { writers: Set<string>; readers: Set<string> } => {
    const uses = usesByKey.get(key) ?? { writers: new Set(), readers: new Set() };
    usesByKey.set(key, uses);
    return uses;
  };
  for (const { nodes, runs } of flows) {
    for (const { label, reads, writes } of nodes) {
      for (const { key } of writes) usesOf(key).writers.add(label);
      for (const { key } of reads) usesOf(key).readers.add(label);
    }
    for (const key of runs.flatMap(({ keys }) => keys ?? [])) usesOf(key).writers.add('run()');
  }
  return [...usesByKey]
    .map(([key, { writers, readers }]) => ({ key, writers: [...writers], readers: [...readers] }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
