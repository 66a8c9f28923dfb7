import type * as t from '@babel/types';
import type { KeyAccess } from '../graph/graph.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { createCell } from './scopes.ts';
import { type Draft, literal, type Scope, type SharedUse, type SharedValue, unknown, type Value } from './values.ts';

// Methods that change their object, so that the key is written as well as read.
const CHANGES = new Set(['push', 'unshift', 'splice', 'pop', 'shift', 'set', 'add', 'delete', 'clear', 'fill', 'sort']);

export function createUse(hook: 'prep' | 'post'): SharedUse {
  return { hook, reads: new Map(), writes: new Map(), unread: [], written: new Map(), guarded: new Set() };
}

/** The keys that are certainly written at the current point. */
export function writtenKeys(interpreter: AbstractInterpreter, use: SharedUse): string[] {
  return [...use.written].filter(([, cell]) => isTrue(interpreter.branches.read(cell))).map(([key]) => key);
}

function isTrue(value: Value | undefined): boolean {
  return value?.type === 'literal' && value.value === true;
}

/** Reads a key of the shared state, or a value below it. */
export function readSharedKey(
  interpreter: AbstractInterpreter,
  { use, path, access }: SharedValue,
  key: string | undefined,
  node: t.Node,
  { scope, isGuarded }: { readonly scope: Scope; readonly isGuarded: boolean },
): Value {
  const { file } = scope;
  if (path.length > 0) {
    interpreter.limit.spend('value', path.length);
    if (key === undefined) return { type: 'shared', use, path, access };
    if (access !== undefined && access.path.length === path.length && !isMethod(key)) access.path = [...path, key];
    if (access !== undefined && CHANGES.has(key)) recordWrite(use, { ...access, path });
    return { type: 'shared', use, path: [...path, key], access };
  }
  if (key === undefined) {
    use.unread.push({ reason: `The key in \`${file.snippet(node)}\` is computed`, range: file.range(node) });
    return unknown(file, node);
  }
  if (isGuarded) use.guarded.add(key);
  const cell = use.written.get(key);
  const created: Draft<KeyAccess> = {
    key,
    path: [key],
    hook: use.hook,
    range: file.range(keyNode(node)),
    isGuarded,
    isOwn: cell !== undefined && isTrue(interpreter.branches.read(cell)),
  };
  const earlier = use.reads.get(created.range.start.offset);
  if (earlier === undefined) use.reads.set(created.range.start.offset, created);
  return { type: 'shared', use, path: [key], access: earlier ?? created };
}

// Method names are not keys: `shared.notes.push` reads `notes`.
function isMethod(key: string): boolean {
  return CHANGES.has(key) || key in Array.prototype || key in String.prototype || key in Map.prototype;
}

/** Writes a key of the shared state, or a value below it. */
export function writeSharedKey(
  interpreter: AbstractInterpreter,
  { use, path }: SharedValue,
  key: string | undefined,
  node: t.Node,
  { file }: Scope,
): void {
  const [first = key] = path;
  if (first === undefined || (path.length === 0 && key === undefined)) {
    use.unread.push({ reason: `The key in \`${file.snippet(node)}\` is computed`, range: file.range(node) });
    return;
  }
  const full = key === undefined ? path : [...path, key];
  const range = file.range(firstKeyNode(node));
  recordWrite(use, { key: first, path: full, hook: use.hook, range, isGuarded: false, isOwn: false });
  if (path.length > 0) return;
  const cell = use.written.get(first) ?? createCell(literal(false));
  use.written.set(first, cell);
  interpreter.branches.write(cell, literal(true));
}

function recordWrite(use: SharedUse, access: Draft<KeyAccess>): void {
  use.writes.set(`${access.range.start.offset} ${access.key}`, access);
}

/** The node of a key: the property of a member expression, or itself in a pattern. */
function keyNode(node: t.Node): t.Node {
  return node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression' ? node.property : node;
}

/** The key next to the shared state in a chain of members. */
function firstKeyNode(node: t.Node): t.Node {
  let at = node;
  while (
    (at.type === 'MemberExpression' || at.type === 'OptionalMemberExpression') &&
    (at.object.type === 'MemberExpression' || at.object.type === 'OptionalMemberExpression')
  ) {
    at = at.object;
  }
  return keyNode(at);
}
