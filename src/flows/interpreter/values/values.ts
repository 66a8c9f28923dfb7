import type * as t from '@babel/types';
import type { KeyAccess, Unread } from '../../graph/graph.ts';
import type { SourceFile } from '../../syntax/sourceFile.ts';

/** What an expression can stand for, as far as the source tells. Nothing of the code is run. */
export type Value =
  | { readonly type: 'undefined' }
  | { readonly type: 'null' }
  | LiteralValue
  | ArrayValue
  | ObjectValue
  | FunctionValue
  | ClassValue
  | LibraryValue
  | Instance
  | ModuleValue
  | SharedValue
  | UnionValue
  | UnknownValue;

/** A place that holds a value: a variable, or a field of an instance. */
export interface Cell {
  value: Value | undefined;
  /** Gives the value when it is first asked for: an import is read only where something depends on it. */
  readonly resolve: (() => Value) | undefined;
}

/** The names of a block, a function call or a module. */
export interface Scope {
  readonly file: SourceFile;
  readonly parent: Scope | undefined;
  /** The name of the function whose body it is; undefined in blocks and at the top. */
  readonly name: string | undefined;
  /** How many calls it is inside. */
  readonly depth: number;
  readonly thisValue: Value | undefined;
  /** The class whose method it is, for `super`. */
  readonly home: ClassValue | undefined;
  readonly cells: Map<string, Cell>;
}

export interface Origin {
  readonly file: SourceFile;
  readonly node: t.Node;
}

export interface LiteralValue {
  readonly type: 'literal';
  readonly value: string | number | boolean;
  /** Where a string is written. */
  readonly origin?: Origin | undefined;
}

export interface ArrayValue {
  readonly type: 'array';
  readonly items: Value[];
  /** Whether there may be more items than those known. */
  isOpen: boolean;
}

interface ObjectValue {
  readonly type: 'object';
  readonly fields: Map<string, Value>;
  isOpen: boolean;
  readonly origin?: Origin;
}

export type FunctionNode =
  | t.FunctionDeclaration
  | t.FunctionExpression
  | t.ArrowFunctionExpression
  | t.ClassMethod
  | t.ClassPrivateMethod
  | t.ObjectMethod;

export interface FunctionValue {
  readonly type: 'function';
  readonly node: FunctionNode;
  /** Where it is written, for the names that it uses. */
  readonly scope: Scope;
  /** Its own name, or that of the first variable that holds it. */
  name: string;
}

export interface ClassValue {
  readonly type: 'class';
  readonly node: t.ClassDeclaration | t.ClassExpression;
  readonly scope: Scope;
  name: string;
  readonly parent: Value | undefined;
  readonly statics: Map<string, Value>;
}

export type LibraryName = 'BaseNode' | 'Node' | 'BatchNode' | 'ParallelBatchNode' | 'Flow' | 'RAGNode' | 'LLMClient';

/** A class of `farwharf/agents`. */
interface LibraryValue {
  readonly type: 'library';
  readonly name: LibraryName;
}

/** How an instance can be named where its scope is seen. */
interface Reference {
  readonly text: string;
  readonly scope: Scope;
}

interface InstanceName {
  readonly text: string;
  /** The instance whose property it is. */
  readonly owner: Instance | undefined;
  /** How deep in calls it was given: the outermost name stays. */
  readonly depth: number;
}

export interface Instance {
  readonly type: 'instance';
  readonly class: ClassValue | LibraryValue;
  readonly file: SourceFile;
  /** The `new` expression; the class itself for one that nobody constructs where it can be seen. */
  readonly creation: t.NewExpression | ClassValue['node'];
  readonly scope: Scope;
  readonly fields: Map<string, Cell>;
  /** The options that reach the library's constructor. */
  options: Value;
  name: InstanceName | undefined;
  readonly references: Reference[];
  /** The graph, where it is a flow. */
  readonly flow: FlowDraft | undefined;
}

export interface Connection {
  readonly source: Instance;
  readonly target: Instance | null;
  readonly action: string;
  readonly file: SourceFile;
  readonly call: t.CallExpression;
  readonly actionOrigin: Origin | undefined;
  readonly scope: Scope;
}

/** What is known of a flow's graph. */
export interface FlowDraft {
  /** In the order in which the flow gets to know them. */
  readonly stations: Set<Instance>;
  readonly connections: Set<Connection>;
  /** The connections of each node by their action, the last one made. */
  readonly exits: Map<Instance, Map<string, Connection>>;
  start: Instance | undefined;
  /** The expression that names the start. */
  startOrigin: Origin | undefined;
  /** Where that is written. */
  startScope: Scope | undefined;
  readonly runs: {
    readonly origin: Origin;
    readonly keys: readonly string[] | undefined;
    /** The object that the run begins with, where it is written. */
    readonly object: Origin | undefined;
  }[];
  readonly unread: Unread[];
}

export interface ModuleValue {
  readonly type: 'module';
  get(name: string): Value;
}

/** What a hook does to the shared state. */
export interface SharedUse {
  readonly hook: 'prep' | 'post';
  readonly reads: Map<number, Draft<KeyAccess>>;
  readonly writes: Map<string, Draft<KeyAccess>>;
  readonly unread: Unread[];
  /** For each key whether it is certainly written at this point of the code. */
  readonly written: Map<string, Cell>;
  /** Keys that the hook looks at before it relies on them. */
  readonly guarded: Set<string>;
}

export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** The shared state (an empty path), or something in it. */
export interface SharedValue {
  readonly type: 'shared';
  readonly use: SharedUse;
  readonly path: readonly string[];
  /** The read that led here, which grows with the path. */
  readonly access: Draft<KeyAccess> | undefined;
}

export interface UnionValue {
  readonly type: 'union';
  readonly values: readonly Exclude<Value, UnionValue>[];
}

export interface UnknownValue {
  readonly type: 'unknown';
  /** What it is and why it cannot be known, without an end: "`pick()` is known only when it runs". */
  readonly reason: string;
  readonly origin: Origin | undefined;
}

export const UNDEFINED: Value = { type: 'undefined' };
export const NULL: Value = { type: 'null' };

const MAX_UNION = 64;
// Names and actions are short; of longer texts nothing is needed, and a loop could double them for ever.
const MAX_TEXT = 1_000;

/** A text that is known, unless it is too long to be a name. */
export function textValue(text: string, origin: Origin): Value {
  if (text.length <= MAX_TEXT) return literal(text, origin);
  return unknown(origin.file, origin.node, 'is too long to be a name');
}

export function literal(value: string | number | boolean, origin?: Origin): LiteralValue {
  return { type: 'literal', value, origin };
}

/** A value that is only known at run time. */
export function unknown(file: SourceFile, node: t.Node, why = 'is only known at run time'): UnknownValue {
  return { type: 'unknown', reason: `\`${file.snippet(node)}\` ${why}`, origin: { file, node } };
}

/** The values that a value may be, one at a time. */
export function alternatives(value: Value): readonly Exclude<Value, UnionValue>[] {
  return value.type === 'union' ? value.values : [value];
}

/** One of several values. */
export function union(values: readonly Value[]): Value {
  const all: Exclude<Value, UnionValue>[] = [];
  for (const value of values.flatMap(alternatives)) {
    if (!all.some((other) => isSame(other, value))) all.push(value);
    if (all.length > MAX_UNION) break;
  }
  const [first] = all;
  if (all.length === 1 && first !== undefined) return first;
  if (all.length <= MAX_UNION) return { type: 'union', values: all };
  return { type: 'unknown', reason: 'there are too many possible values here', origin: undefined };
}

function isSame(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a.type !== b.type) return false;
  if (a.type === 'literal' && b.type === 'literal') return a.value === b.value && a.origin?.node === b.origin?.node;
  if (a.type === 'unknown' && b.type === 'unknown') return a.origin?.node === b.origin?.node;
  return a.type === 'undefined' || a.type === 'null';
}
