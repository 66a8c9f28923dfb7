import type * as t from '@babel/types';
import { callArrayMethod, callGlobal, followArguments } from './builtins.ts';
import { addItems } from './expressions.ts';
import { connectInDraft, hide, noteRun } from './drafts.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { makeNode } from './instances.ts';
import { boundMethod, findMethod, libraryOf } from './members.ts';
import { keyName, unwrapped } from '../syntax/nodes.ts';
import { findCell } from './scopes.ts';
import { alternatives, type Instance, type Scope, UNDEFINED, union, unknown, type Value } from './values.ts';

type Call = t.CallExpression | t.OptionalCallExpression;

/** The values of arguments; those after a spread of an unknown value are left out. */
export function evaluateArguments(interpreter: AbstractInterpreter, nodes: readonly t.Node[], scope: Scope): Value[] {
  const args: Value[] = [];
  for (const node of nodes) {
    const value = interpreter.evaluate(node, scope);
    if (node.type !== 'SpreadElement') args.push(value);
    else if (!addItems(interpreter, args, value)) {
      args.push(unknown(scope.file, node), unknown(scope.file, node), unknown(scope.file, node));
      break;
    }
  }
  return args;
}

type Member = t.MemberExpression | t.OptionalMemberExpression;

function isMember(node: t.Node): node is Member {
  return node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression';
}

function isCall(node: t.Node): node is Call {
  return node.type === 'CallExpression' || node.type === 'OptionalCallExpression';
}

/**
 * Evaluates a call and returns its value. Chained calls are evaluated one after another, not recursively, because generated
 * flows chain thousands of them.
 */
export function evaluateCall(interpreter: AbstractInterpreter, outermost: Call, scope: Scope): Value {
  const chain: { node: Call; callee: Member }[] = [];
  let node = outermost;
  let callee = unwrapped(node.callee);
  for (;;) {
    if (!isMember(callee)) break;
    chain.push({ node, callee });
    const object = unwrapped(callee.object);
    if (!isCall(object)) break;
    node = object;
    callee = unwrapped(node.callee);
  }
  let value = isMember(callee) ? undefined : callPlain(interpreter, node, callee, scope);
  for (const link of chain.reverse()) value = callMember(interpreter, link.node, link.callee, value, scope);
  return value ?? UNDEFINED;
}

function callPlain(interpreter: AbstractInterpreter, node: Call, callee: t.Node, scope: Scope): Value {
  if (callee.type === 'Super') {
    const { home, thisValue } = scope;
    const args = evaluateArguments(interpreter, node.arguments, scope);
    if (home !== undefined && thisValue?.type === 'instance') interpreter.constructParent(home, thisValue, args);
    return UNDEFINED;
  }
  const called = interpreter.evaluate(callee, scope);
  const args = evaluateArguments(interpreter, node.arguments, scope);
  const [first] = args;
  if (callee.type === 'Identifier' && callee.name === 'require' && first?.type === 'literal') {
    const isGlobal = findCell(scope, 'require') === undefined;
    const required = isGlobal ? interpreter.importModule(String(first.value), scope.file) : undefined;
    return required ?? unknown(scope.file, node);
  }
  return callValue(interpreter, called, args, node, scope);
}

function callValue(
  interpreter: AbstractInterpreter,
  called: Value,
  args: readonly Value[],
  node: Call,
  scope: Scope,
): Value {
  if (called.type === 'function') return interpreter.invoke(called, args);
  if (called.type === 'library' && called.isFunction === true && node.type === 'CallExpression')
    return makeNode(interpreter, called, node, args, scope);
  if (called.type === 'union') {
    return union(called.values.map((one) => callValue(interpreter, one, args, node, scope)));
  }
  noteEscapes(interpreter, args, node, scope);
  followArguments(interpreter, args);
  return unknown(scope.file, node);
}

/** @param chained the value of the object, if it is a call that was evaluated before. */
function callMember(
  interpreter: AbstractInterpreter,
  node: Call,
  callee: Member,
  chained: Value | undefined,
  scope: Scope,
): Value {
  const name = keyName(callee.property, callee.computed);
  if (callee.object.type === 'Super') return callSuper(interpreter, node, name, scope);
  const global = name === undefined ? undefined : globalName(callee.object, name, scope);
  const isOptional = callee.type === 'OptionalMemberExpression' && callee.optional;
  const evaluated = (): Value =>
    isOptional ? interpreter.evaluateGuarded(callee.object, scope) : interpreter.evaluate(callee.object, scope);
  const object = chained ?? evaluated();
  const results = alternatives(object).map((one) => {
    if (one.type === 'instance' && name !== undefined) return callMethod(interpreter, one, name, node, scope);
    const args = evaluateArguments(interpreter, node.arguments, scope);
    if (name === 'connect' && one.type === 'unknown' && args.some(({ type }) => type === 'instance')) {
      const origin = { file: scope.file, node: callee.object };
      hide(interpreter, undefined, origin, `The flow that this connects is unknown: ${one.reason}.`);
    }
    const result =
      global !== undefined
        ? callGlobal(interpreter, global, args, node, scope)
        : one.type === 'array' && name !== undefined
          ? callArrayMethod(interpreter, one, name, args, node, scope)
          : undefined;
    if (result !== undefined) return result;
    const called = interpreter.read(one, name, callee, scope);
    if (global === undefined) return callValue(interpreter, called, args, node, scope);
    followArguments(interpreter, args);
    return unknown(scope.file, node);
  });
  return union(results);
}

/** The name of a built-in function such as `Object.keys`, unless the code redefines it. */
function globalName(object: t.Node, name: string, scope: Scope): string | undefined {
  if (object.type !== 'Identifier' || findCell(scope, object.name) !== undefined) return undefined;
  return `${object.name}.${name}`;
}

function callMethod(
  interpreter: AbstractInterpreter,
  instance: Instance,
  name: string,
  node: Call,
  scope: Scope,
): Value {
  const method = findMethod(instance.class, name);
  const args = evaluateArguments(interpreter, node.arguments, scope);
  if (method !== undefined) {
    const value = interpreter.invoke(boundMethod(method, instance), args);
    if (name === 'run' && instance.flow !== undefined)
      noteRun(interpreter, instance, node, args[0] ?? UNDEFINED, scope);
    return value;
  }
  const field = instance.fields.get(name);
  if (field !== undefined)
    return callValue(interpreter, interpreter.branches.read(field) ?? UNDEFINED, args, node, scope);
  return callLibrary(interpreter, instance, name, args, node, scope);
}

function callSuper(interpreter: AbstractInterpreter, node: Call, name: string | undefined, scope: Scope): Value {
  const { home, thisValue } = scope;
  const args = evaluateArguments(interpreter, node.arguments, scope);
  if (thisValue?.type !== 'instance' || name === undefined) return unknown(scope.file, node);
  const method = findMethod(home?.parent, name);
  if (method !== undefined) return interpreter.invoke(boundMethod(method, thisValue), args);
  return callLibrary(interpreter, thisValue, name, args, node, scope);
}

function callLibrary(
  interpreter: AbstractInterpreter,
  instance: Instance,
  name: string,
  args: readonly Value[],
  node: Call,
  scope: Scope,
): Value {
  if (instance.flow !== undefined) {
    if (name === 'connect' && node.type === 'CallExpression') {
      connectInDraft(interpreter, instance, node, args, scope);
      return instance;
    }
    if (name === 'run') noteRun(interpreter, instance, node, args[0] ?? UNDEFINED, scope);
    // The flow's own post returns the action of its last node, which only its graph knows.
    if (name === 'post') return args[2] ?? UNDEFINED;
  } else if (name === 'post' && libraryOf(instance.class) !== 'RAGNode') return UNDEFINED;
  if (name === 'addSource') return instance;
  followArguments(interpreter, args);
  return unknown(scope.file, node);
}

/** A flow or shared state that is passed to unknown code may be changed there. */
function noteEscapes(interpreter: AbstractInterpreter, args: readonly Value[], node: Call, scope: Scope): void {
  const { file } = scope;
  const callee = unwrapped(node.callee);
  const isGlobal = callee.type === 'Identifier' && findCell(scope, callee.name) === undefined;
  for (const arg of args) {
    if (arg.type === 'shared' && arg.path.length === 0 && !isGlobal) {
      const reason = `The shared state is passed to \`${file.snippet(node.callee)}\`, whose code cannot be read`;
      arg.use.unread.push({ reason, range: file.range(node) });
    }
    if (arg.type === 'instance' && arg.flow !== undefined && !isGlobal) {
      const reason = `The flow is passed to \`${file.snippet(node.callee)}\`, whose code cannot be read and may add connections.`;
      hide(interpreter, arg.flow, { file, node }, reason);
    }
  }
}
