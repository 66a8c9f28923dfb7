import type * as t from '@babel/types';
import type { KeyAccess, Unread } from '../graph/graph.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
import type { LibraryName } from './library.ts';

/** The possible values of an expression, as far as the source determines them. No code is run. */
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
  | { readonly type: 'union'; readonly values: readonly Single[] }
  | UnknownValue;

/** A value that is not one of several. */
type Single = Exclude<Value, { readonly type: 'union' }>;

/** Storage for a value: a variable, or a field of an instance. */
export interface Cell {
  value: Value | undefined;
  /** Returns the value on first use: an import is read only if something depends on it. */
  readonly resolve: (() => Value) | undefined;
}

/** The names of a block, a function call or a module. */
export interface Scope {
  readonly file: SourceFile;
  readonly parent: Scope | undefined;
  /** The name of the function with this body; undefined in blocks and at the top level. */
  readonly name: string | undefined;
  /** The depth of calls. */
  readonly depth: number;
  readonly thisValue: Value | undefined;
  /** The class of the method, for `super`. */
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
  /** Whether there may be more items. */
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
  /** The scope of its definition, for the names it uses. */
  readonly scope: Scope;
  /** Its own name, or the first variable that holds it. */
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

/** A class of `farwharf/agents`, or a function that makes an instance of it. */
export interface LibraryValue {
  readonly type: 'library';
  readonly name: LibraryName;
  readonly isFunction?: boolean;
}

export interface Instance {
  readonly type: 'instance';
  readonly class: ClassValue | LibraryValue;
  readonly file: SourceFile;
  /** The `new` expression, or the call that makes a node of functions; the class itself if no visible code constructs it. */
  readonly creation: t.NewExpression | t.CallExpression | ClassValue['node'];
  readonly scope: Scope;
  readonly fields: Map<string, Cell>;
  /** The options passed to the library's constructor. */
  options: Value;
  /** The outermost of its names: `owner` has it as a property, and `depth` is that of the call that assigned it. */
  name: { readonly text: string; readonly owner: Instance | undefined; readonly depth: number } | undefined;
  /** How code names it where the scope is visible. */
  readonly references: { readonly text: string; readonly scope: Scope }[];
  /** The graph, if it is a flow. */
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

/** The known part of a flow's graph. */
export interface FlowDraft {
  /** In the order in which the flow first uses them. */
  readonly nodes: Set<Instance>;
  /** The names of its branches, if it is a ParallelFlow. */
  readonly branches: Map<Instance, string>;
  readonly connections: Set<Connection>;
  /** The last connection of each node for each action. */
  readonly exits: Map<Instance, Map<string, Connection>>;
  /** Connections that a later one replaces. */
  readonly replaced: Connection[];
  start: Instance | undefined;
  /** The expression that names the start. */
  startOrigin: Origin | undefined;
  /** Where that is written. */
  startScope: Scope | undefined;
  readonly runs: {
    readonly origin: Origin;
    readonly keys: readonly string[] | undefined;
    /** The values of these keys that are plain data. */
    readonly values: readonly (readonly [key: string, value: unknown])[];
    /** The initial shared state, if it is an object literal. */
    readonly object: Origin | undefined;
  }[];
  readonly unread: Unread[];
}

export interface ModuleValue {
  readonly type: 'module';
  get(name: string): Value;
}

/** The reads and writes of a hook in the shared state. */
export interface SharedUse {
  readonly hook: 'prep' | 'post';
  readonly reads: Map<number, Draft<KeyAccess>>;
  readonly writes: Map<string, Draft<KeyAccess>>;
  readonly unread: Unread[];
  /** For each key, whether it is certainly written at this point. */
  readonly written: Map<string, Cell>;
  /** Keys that the hook checks before it relies on them. */
  readonly guarded: Set<string>;
}

export type Draft<T> = { -readonly [K in keyof T]: T[K] };

/** The shared state (an empty path), or a value in it. */
export interface SharedValue {
  readonly type: 'shared';
  readonly use: SharedUse;
  readonly path: readonly string[];
  /** The read that led here; its keys grow with the path. */
  readonly access: Draft<KeyAccess> | undefined;
}

export interface UnknownValue {
  readonly type: 'unknown';
  /** What it is and why it is unknown, without a full stop: "`pick()` is only known at run time". */
  readonly reason: string;
  readonly origin: Origin | undefined;
}

export const UNDEFINED: Value = { type: 'undefined' };
export const NULL: Value = { type: 'null' };

const MAX_UNION = 64;
// Names and actions are short. Longer strings are not needed, and a loop could double them forever.
const MAX_TEXT = 1_000;

/** A known string, unless it is too long to be a name. */
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

/** The alternatives of a value, one at a time. */
export function alternatives(value: Value): readonly Single[] {
  return value.type === 'union' ? value.values : [value];
}

/** One of several values. */
export function union(values: readonly Value[]): Value {
  const all: Single[] = [];
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

/** Whether a value is truthy; undefined if unknown. */
export function truth(value: Value): boolean | undefined {
  if (value.type === 'undefined' || value.type === 'null') return false;
  if (value.type === 'literal') return Boolean(value.value);
  if (value.type === 'unknown' || value.type === 'shared') return undefined;
  if (value.type !== 'union') return true;
  const [first, ...rest] = value.values.map(truth);
  return rest.every((other) => other === first) ? first : undefined;
}
