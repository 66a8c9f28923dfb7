import type * as t from '@babel/types';
import { given, keyName, visitNodes } from '../syntax/nodes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
import type { LibraryNames } from './libraryNames.ts';
import { type Creation, type WiredLink, readWiring } from './wiring.ts';

/** The classes of a file whose params become a part of the state of their batch flows. */
export interface ParamsPlan {
  /** Of the nodes that run for the items. */
  readonly nodes: ReadonlySet<string>;
  readonly flows: ReadonlySet<string>;
}

const NO_PLAN: ParamsPlan = { nodes: new Set(), flows: new Set() };
const HOOKS = ['prep', 'post'];

/** Whether an expression is the params of a node: `this._params`. */
export function isParams(node: t.Node): node is t.MemberExpression {
  return (
    node.type === 'MemberExpression' &&
    node.object.type === 'ThisExpression' &&
    ['_params', 'params'].includes(keyName(node.property, node.computed) ?? '')
  );
}

/**
 * Plans to pass the params of batch flows in their state: `{ shared, params }`. That changes what each node of these flows gets, so
 * nothing is planned unless the file shows all of them, and that none of them is used elsewhere.
 */
export function planParams(file: SourceFile, names: LibraryNames): ParamsPlan {
  const { scopes, units } = readWiring(file, names);
  const links = scopes.flatMap(({ wirings }) => wirings.flatMap((wiring) => wiring.links));
  const [inside, outside, flows] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const creation of scopes.flatMap((scope) => scope.creations)) {
    const isBatch = isBatchFlow(names, creation.flow);
    if (isBatch) flows.add(creation.flow);
    for (const text of reachedTexts(creation, links)) {
      const classes = units.get(text) ?? new Set();
      if (isBatch && classes.size === 0) return NO_PLAN; // a node of another file
      for (const name of classes) for (const each of withParents(names, name)) (isBatch ? inside : outside).add(each);
    }
  }
  const isAlone = [...inside].every((name) => !outside.has(name) && names.classNamed(name) !== undefined);
  const hasState = [...flows].some((name) => methodOf(names.classNamed(name), 'itemState') !== undefined);
  if (!isAlone || hasState || [...flows].some((name) => names.classNamed(name) === undefined)) return NO_PLAN;
  return isConvertible(file, names, inside, units) ? { nodes: inside, flows } : NO_PLAN;
}

function isBatchFlow(names: LibraryNames, flow: string): boolean {
  const parent = names.classNamed(flow)?.superClass;
  return parent?.type === 'Identifier' && /^(?:Parallel)?BatchFlow$/.test(names.libraryOf(parent) ?? '');
}

function* withParents(names: LibraryNames, name: string): Generator<string> {
  const seen = new Set<string>();
  for (let at: string | undefined = name; at !== undefined && !seen.has(at); ) {
    yield at;
    seen.add(at);
    const parent: t.Node | null | undefined = names.classNamed(at)?.superClass;
    at = parent?.type === 'Identifier' && names.classNamed(parent.name) !== undefined ? parent.name : undefined;
  }
}

function reachedTexts({ first }: Creation, links: readonly WiredLink[]): ReadonlySet<string> {
  const reached = new Set([first]);
  for (const text of reached) for (const { source, target } of links) if (source === text) reached.add(target);
  return reached;
}

/** Whether the params of the file are used only where the state has them, and nodes of batch flows get no other state. */
function isConvertible(
  { program }: SourceFile,
  names: LibraryNames,
  nodes: ReadonlySet<string>,
  units: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  if (program === undefined) return false;
  const classes = [...nodes].map((name) => names.classNamed(name));
  const hooks = classes.flatMap((node) => HOOKS.flatMap((hook) => methodOf(node, hook) ?? []));
  const inHooks = new Set<t.Node>();
  for (const hook of hooks) visitNodes(hook, (node) => void inHooks.add(node));
  const uses: t.Node[] = [];
  const hazards: t.Node[] = [];
  visitNodes(program, (node, parent) => {
    if (isParams(node)) uses.push(node);
    // Another `params` in a hook would hide those of the state.
    const isMember = parent?.type === 'MemberExpression' && parent.property === node && !parent.computed;
    if (node.type === 'Identifier' && node.name === 'params' && inHooks.has(node) && !isMember) hazards.push(node);
    if (exportedNames(node).some((name) => nodes.has(name))) hazards.push(node);
    if (node.type !== 'MemberExpression') return;
    const member = keyName(node.property, node.computed) ?? '';
    const runs = member === 'run' && node.object.type === 'Identifier' ? units.get(node.object.name) : undefined;
    const isAlone = [...(runs ?? [])].some((name) => nodes.has(name));
    const isInherited = node.object.type === 'Super' && HOOKS.includes(member);
    if (member === 'setParams' || isAlone || isInherited) hazards.push(node);
  });
  return (
    classes.every((node) => given(node?.superClass) && names.kindOf(node.superClass) === 'node') &&
    hooks.every(({ params: [first] }) => first === undefined || first.type === 'Identifier') &&
    uses.length > 0 &&
    uses.every((node) => inHooks.has(node)) &&
    hazards.length === 0
  );
}

/** The classes that a statement exports: other files may use them with a state of their own. */
function exportedNames(node: t.Node): readonly string[] {
  if (node.type === 'ExportSpecifier') return node.local.type === 'Identifier' ? [node.local.name] : [];
  if (node.type === 'ExportNamedDeclaration' || node.type === 'ExportDefaultDeclaration') {
    const { declaration } = node;
    if (declaration?.type === 'ClassDeclaration') return declaration.id ? [declaration.id.name] : [];
    return declaration?.type === 'Identifier' ? [declaration.name] : [];
  }
  if (node.type !== 'AssignmentExpression' || node.left.type !== 'MemberExpression') return [];
  const { object, property } = node.left;
  const names = [object, property].map((part) => (part.type === 'Identifier' ? part.name : ''));
  if (!names.includes('exports')) return [];
  const values = node.right.type === 'ObjectExpression' ? node.right.properties : [];
  const exported = values.flatMap((each) => (each.type === 'ObjectProperty' ? each.value : []));
  return [node.right, ...exported].flatMap((value) => (value.type === 'Identifier' ? value.name : []));
}

/** A method of a class by its name. */
export function methodOf(node: t.Class | undefined, name: string | undefined): t.ClassMethod | undefined {
  return node?.body.body.find(
    (member): member is t.ClassMethod => member.type === 'ClassMethod' && keyName(member.key, member.computed) === name,
  );
}
