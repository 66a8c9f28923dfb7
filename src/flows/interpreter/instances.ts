import type * as t from '@babel/types';
import { createDraft, setBranches, setStart } from './drafts.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { findMethod, libraryOf } from './members.ts';
import { given, keyName } from '../syntax/nodes.ts';
import { createCell, createScope } from './scopes.ts';
import { isFlowClass } from './library.ts';
import {
  type ClassValue,
  type Instance,
  type LibraryValue,
  type Scope,
  UNDEFINED,
  unknown,
  type Value,
} from './values.ts';

/** Evaluates a `new` expression. */
export function constructInstance(
  interpreter: AbstractInterpreter,
  node: t.NewExpression,
  args: readonly Value[],
  scope: Scope,
): Value {
  const called = interpreter.evaluate(node.callee, scope);
  if (called.type !== 'class' && called.type !== 'library') return unknown(scope.file, node);
  const instance = addInstance(interpreter, called, node, scope);
  construct(interpreter, called, instance, args);
  return instance;
}

/** Evaluates a call of a function of the library that makes a node: its hooks are fields of the node. */
export function makeNode(
  interpreter: AbstractInterpreter,
  called: LibraryValue,
  node: t.CallExpression,
  [definition = UNDEFINED]: readonly Value[],
  scope: Scope,
): Instance {
  const instance = addInstance(interpreter, called, node, scope);
  instance.options = definition;
  const fields = definition.type === 'object' ? definition.fields : [];
  for (const [name, value] of fields) if (value.type === 'function') instance.fields.set(name, createCell(value));
  return instance;
}

function addInstance(
  interpreter: AbstractInterpreter,
  called: Instance['class'],
  creation: Instance['creation'],
  scope: Scope,
): Instance {
  interpreter.limit.spend('node');
  const instance: Instance = {
    type: 'instance',
    class: called,
    file: scope.file,
    creation,
    scope,
    fields: new Map(),
    options: UNDEFINED,
    name: undefined,
    references: [],
    flow: isFlowClass(libraryOf(called)) ? createDraft() : undefined,
  };
  interpreter.findings.instances.push(instance);
  return instance;
}

/** Evaluates the constructor of a class or of its parent. */
export function construct(
  interpreter: AbstractInterpreter,
  called: Value | undefined,
  instance: Instance,
  args: readonly Value[],
): void {
  if (called?.type === 'library') {
    constructLibrary(interpreter, instance, args);
    return;
  }
  if (called?.type !== 'class') return;
  const method = findMethod({ ...called, parent: undefined }, 'constructor');
  if (method === undefined) {
    construct(interpreter, called.parent, instance, args);
    initializeFields(interpreter, called, instance);
    return;
  }
  if (called.parent === undefined) initializeFields(interpreter, called, instance);
  const scope = createScope({ file: called.scope.file, parent: called.scope, thisValue: instance, home: called });
  const { params } = method.node;
  for (const [index, param] of params.entries()) {
    if (param.type !== 'TSParameterProperty') continue;
    const { parameter } = param;
    const name = parameter.type === 'Identifier' ? parameter : parameter.left;
    if (name.type === 'Identifier') instance.fields.set(name.name, createCell(args[index] ?? UNDEFINED));
  }
  interpreter.invoke({ type: 'function', node: method.node, scope, name: '' }, args);
}

/** Evaluates `super(...)` in the constructor of `home`. */
export function constructParent(
  interpreter: AbstractInterpreter,
  home: ClassValue,
  instance: Instance,
  args: readonly Value[],
): void {
  construct(interpreter, home.parent, instance, args);
  initializeFields(interpreter, home, instance);
}

function constructLibrary(interpreter: AbstractInterpreter, instance: Instance, args: readonly Value[]): void {
  const [options = UNDEFINED] = args;
  instance.options = options;
  const { file, creation, scope } = instance;
  const origin = { file, node: creation };
  if (libraryOf(instance.class) === 'LLMClient') interpreter.findings.models.set(creation, { origin, options });
  if (instance.flow === undefined || options.type === 'undefined') return;
  if (libraryOf(instance.class) === 'ParallelFlow') {
    const branches = options.type === 'object' ? options.fields.get('branches') : undefined;
    setBranches(interpreter, instance, branches ?? options, origin);
    return;
  }
  const start = options.type === 'object' ? options.fields.get('start') : undefined;
  if (start !== undefined) setStart(interpreter, instance, start, startOrigin(instance), scope);
  else if (options.type !== 'object' || options.isOpen) {
    setStart(
      interpreter,
      instance,
      unknown(file, creation, 'gets options that are not written in the call'),
      origin,
      scope,
    );
  }
}

/** The position of the option `start`, if the options are written in the `new` expression itself. */
function startOrigin({ file, creation }: Instance): { file: Scope['file']; node: t.Node } {
  const [options] = creation.type === 'NewExpression' ? creation.arguments : [];
  if (options?.type !== 'ObjectExpression') return { file, node: creation };
  const property = options.properties.find(
    (one) => one.type === 'ObjectProperty' && keyName(one.key, one.computed) === 'start',
  );
  return { file, node: property?.type === 'ObjectProperty' ? property.value : creation };
}

function initializeFields(
  interpreter: AbstractInterpreter,
  { node, scope: outer }: ClassValue,
  instance: Instance,
): void {
  const scope = createScope({ file: outer.file, parent: outer, thisValue: instance });
  for (const member of node.body.body) {
    if (member.type !== 'ClassProperty' && member.type !== 'ClassPrivateProperty') continue;
    if (member.static || ('declare' in member && member.declare === true)) continue;
    const key = keyName(member.key, 'computed' in member && member.computed);
    if (key === undefined) continue;
    const value = !given(member.value) ? UNDEFINED : interpreter.evaluate(member.value, scope);
    instance.fields.set(key, createCell(value));
    if (value.type !== 'instance') continue;
    value.references.push({ text: `this.${key}`, scope });
    if (value.name === undefined || scope.depth < value.name.depth) {
      value.name = { text: key, owner: instance, depth: scope.depth };
    }
  }
}
