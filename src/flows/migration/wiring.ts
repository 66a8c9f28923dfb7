import type * as t from '@babel/types';
import { unwrapped, visitNodes } from '../syntax/nodes.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import type { LibraryNames } from './libraryNames.ts';

type ConnectionCall = t.CallExpression & { callee: t.MemberExpression };

/** One `a.next(b)` or `a.on('x', b)`, by the texts of its parts. */
export interface WiredLink {
  readonly source: string;
  readonly target: string;
  /** The text of the action; undefined for the default. */
  readonly action: string | undefined;
}

/** A statement that connects nodes: a chain of `next` and `on`. */
export interface Wiring {
  readonly links: readonly WiredLink[];
  readonly start: number;
  readonly end: number;
  /** Whether it always runs: it is not in a branch or a loop of its function. */
  readonly isCertain: boolean;
}

/** Where a flow is made from its first node. */
export interface Creation {
  /** The class of the flow, as it is written. */
  readonly flow: string;
  /** The text of the first node. */
  readonly first: string;
  readonly start: number;
  /** The end of `new Flow(…)`, or of the statement `super(…);`. */
  readonly end: number;
  /** The variable that holds it afterwards; `this` in a constructor. */
  readonly name: string | undefined;
  readonly isSuper: boolean;
}

/** The connections and the flows of one function, or of the file itself. */
export interface WiringScope {
  readonly wirings: Wiring[];
  readonly creations: Creation[];
}

/** The texts of the expressions that hold nodes or flows, each with the classes that it may have. */
type Units = Map<string, Set<string>>;

interface FileWiring {
  readonly scopes: readonly WiringScope[];
  readonly units: ReadonlyMap<string, ReadonlySet<string>>;
  /** The calls of `next` and `on` that are no statement. */
  readonly others: readonly t.Node[];
}

/** Finds what each function connects. */
export function readWiring(file: SourceFile, names: LibraryNames): FileWiring {
  const scopes = new Map<t.Node, WiringScope>();
  const others: t.Node[] = [];
  const units: Units = new Map();
  if (file.program === undefined) return { scopes: [], units, others };
  const parents = new Map<t.Node, t.Node>();
  const calls: ConnectionCall[] = [];
  visitNodes(file.program, (node, parent) => {
    if (parent !== undefined) parents.set(node, parent);
    noteUnits(file, names, node, units);
    if (isConnection(node)) calls.push(node);
  });
  const scopeOf = (node: t.Node): WiringScope => {
    const home = functionOf(node, parents);
    const scope = scopes.get(home) ?? { wirings: [], creations: [] };
    scopes.set(home, scope);
    return scope;
  };
  const isUnit = (node: t.Node): boolean => {
    const at = unwrapped(node);
    return at.type === 'NewExpression' ? names.kindOf(at.callee) !== undefined : units.has(file.textOf(at));
  };
  // Whatever is connected to a node is a node too, wherever it comes from.
  for (let size = -1; size !== units.size; ) {
    size = units.size;
    for (const call of calls.filter((one) => connects(one, isUnit))) {
      for (const { source, target } of linksOf(file, call) ?? []) {
        note(units, source);
        note(units, target);
      }
    }
  }
  visitNodes(file.program, (node, parent) => {
    if (node.type === 'CallExpression' && node.callee.type === 'Super') {
      const creation = superCreation(file, names, node, parents);
      if (creation !== undefined) scopeOf(node).creations.push(creation);
    }
    if (node.type === 'NewExpression' && names.kindOf(node.callee) === 'flow' && node.arguments[0] !== undefined) {
      if (names.isConstructedByLibrary(node.callee)) {
        const [first] = node.arguments;
        const [start, end] = [startOf(node), endOf(node)];
        const flow = file.textOf(node.callee);
        const creation = { flow, first: file.textOf(first), start, end, name: nameOf(file, parent), isSuper: false };
        scopeOf(node).creations.push(creation);
      }
    }
    if (node.type !== 'CallExpression' || !isConnection(node) || isConnectionOf(parents, node)) return;
    const isKnown = connects(node, isUnit);
    if (!isKnown && !isProbable(node)) return;
    const links = isKnown ? linksOf(file, node) : undefined;
    if (links === undefined || parent?.type !== 'ExpressionStatement') {
      others.push(node);
      return;
    }
    const home = functionOf(node, parents);
    const isCertain = parents.get(parent) === home || parents.get(parent) === bodyOf(home);
    scopeOf(node).wirings.push({ links, start: startOf(parent), end: endOf(parent), isCertain });
  });
  for (const { wirings, creations } of scopes.values()) {
    wirings.sort((a, b) => a.start - b.start);
    creations.sort((a, b) => a.start - b.start);
  }
  return { scopes: [...scopes.values()], units, others };
}

/** Remembers the variables and properties that hold nodes or flows. */
function noteUnits(file: SourceFile, names: LibraryNames, node: t.Node, units: Units): void {
  const noteNew = (text: string, value: t.Node | null | undefined): void => {
    const at = value ? unwrapped(value) : undefined;
    if (at?.type !== 'NewExpression' || names.kindOf(at.callee) === undefined) return;
    note(units, text, file.textOf(at.callee));
  };
  if (node.type === 'NewExpression') noteNew(file.textOf(node), node);
  if (node.type === 'VariableDeclarator') {
    if (node.id.type === 'Identifier') noteNew(node.id.name, node.init);
    if (node.id.type === 'ArrayPattern' && node.init?.type === 'ArrayExpression') {
      for (const [index, element] of node.id.elements.entries()) {
        if (element?.type === 'Identifier') noteNew(element.name, node.init.elements[index]);
      }
    }
  }
  const isFlow = node.type === 'NewExpression' && names.kindOf(node.callee) === 'flow';
  if (isFlow && names.isConstructedByLibrary(node.callee)) {
    const [first] = node.arguments;
    if (first !== undefined) note(units, file.textOf(first));
  }
  if (node.type === 'AssignmentExpression') noteNew(file.textOf(node.left), node.right);
  if (node.type === 'ClassProperty' && node.key.type === 'Identifier') noteNew(`this.${node.key.name}`, node.value);
  if (node.type !== 'Identifier' || node.typeAnnotation?.type !== 'TSTypeAnnotation') return;
  const { typeAnnotation: type } = node.typeAnnotation;
  if (type.type !== 'TSTypeReference' || names.kindOf(type.typeName) === undefined) return;
  note(units, node.name, file.textOf(type.typeName));
}

function note(units: Units, text: string, className?: string): void {
  const classes = units.get(text) ?? new Set();
  units.set(text, className === undefined ? classes : classes.add(className));
}

function isConnection(node: t.Node | undefined): node is ConnectionCall {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { property } = node.callee;
  const name = property.type === 'Identifier' ? property.name : undefined;
  return (name === 'next' && node.arguments.length === 1) || (name === 'on' && node.arguments.length === 2);
}

/** Whether a call is the object of another connection, which has its links too. */
function isConnectionOf(parents: ReadonlyMap<t.Node, t.Node>, node: t.Node): boolean {
  const member = parents.get(node);
  return member?.type === 'MemberExpression' && member.object === node && isConnection(parents.get(member));
}

function connects(node: ConnectionCall, isUnit: (node: t.Node) => boolean): boolean {
  const { object } = node.callee;
  const target = node.arguments.at(-1);
  return (
    (target !== undefined && isUnit(target)) || isUnit(object) || (isConnection(object) && connects(object, isUnit))
  );
}

/** Whether a call of `next` may connect two nodes of which nothing is known: iterators get values. */
function isProbable({ callee, arguments: [argument] }: ConnectionCall): boolean {
  const isNext = callee.property.type === 'Identifier' && callee.property.name === 'next';
  return isNext && (argument?.type === 'Identifier' || argument?.type === 'MemberExpression');
}

/** The links of a chain, in their order; undefined if one starts at a node without a name. */
function linksOf(file: SourceFile, node: ConnectionCall): readonly WiredLink[] | undefined {
  const { object, property } = node.callee;
  const before = isConnection(object) ? linksOf(file, object) : [];
  const isNext = property.type === 'Identifier' && property.name === 'next';
  const target = node.arguments.at(-1);
  const source = sourceAfter(file, object);
  if (before === undefined || source === undefined || target === undefined || target.type === 'SpreadElement')
    return undefined;
  const [first] = node.arguments;
  const action = isNext || first === undefined || isDefault(first) ? undefined : file.textOf(first);
  return [...before, { source, target: file.textOf(target), action }];
}

/** `next` returns the node that it was given, `on` the one that it was called on. */
function sourceAfter(file: SourceFile, object: t.Node): string | undefined {
  if (!isConnection(object)) {
    const at = unwrapped(object);
    return at.type === 'NewExpression' || at.type === 'CallExpression' ? undefined : file.textOf(at);
  }
  const [argument] = object.arguments;
  const isNext = object.callee.property.type === 'Identifier' && object.callee.property.name === 'next';
  return isNext && argument !== undefined ? sourceAfter(file, argument) : sourceAfter(file, object.callee.object);
}

function isDefault(node: t.Node): boolean {
  return node.type === 'StringLiteral' && node.value === 'default';
}

function superCreation(
  file: SourceFile,
  names: LibraryNames,
  call: t.CallExpression,
  parents: ReadonlyMap<t.Node, t.Node>,
): Creation | undefined {
  const statement = parents.get(call);
  const [first] = call.arguments;
  let at: t.Node | undefined = call;
  while (at !== undefined && at.type !== 'ClassDeclaration' && at.type !== 'ClassExpression') at = parents.get(at);
  if (first === undefined || statement === undefined || !at?.superClass) return undefined;
  if (names.kindOf(at.superClass) !== 'flow' || !names.isConstructedByLibrary(at.superClass)) return undefined;
  const flow = at.id?.name ?? '';
  return { flow, first: file.textOf(first), start: startOf(call), end: endOf(statement), name: 'this', isSuper: true };
}

function nameOf(file: SourceFile, parent: t.Node | undefined): string | undefined {
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') return parent.id.name;
  return parent?.type === 'AssignmentExpression' ? file.textOf(parent.left) : undefined;
}

function functionOf(node: t.Node, parents: ReadonlyMap<t.Node, t.Node>): t.Node {
  let at = node;
  for (let parent = parents.get(at); parent !== undefined; parent = parents.get(at)) {
    if (bodyOf(at) !== undefined && at !== node) return at;
    at = parent;
  }
  return at;
}

function bodyOf(node: t.Node): t.Node | undefined {
  const isFunction =
    node.type === 'FunctionDeclaration' ||
    node.type === 'FunctionExpression' ||
    node.type === 'ArrowFunctionExpression' ||
    node.type === 'ClassMethod' ||
    node.type === 'ObjectMethod';
  return isFunction ? node.body : undefined;
}
