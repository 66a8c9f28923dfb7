import type * as t from '@babel/types';
import { callArrayMethod, callGlobal, followArguments } from './builtins.ts';
import { addItems } from './expressions.ts';
import { connect, hide, noteRun, setStart } from './values/drafts.ts';
import type { Machine } from './values/machine.ts';
import { boundMethod, findMethod, libraryOf } from './members.ts';
import { keyName, unwrapped } from '../syntax/nodes.ts';
import { findCell } from './values/scope.ts';
import { alternatives, type Instance, type Scope, UNDEFINED, union, unknown, type Value } from './values/values.ts';

type Call = t.CallExpression | t.OptionalCallExpression;

/** The values of arguments; those behind a spread of something unknown are left out. */
export function evaluateArguments(machine: Machine, nodes: readonly t.Node[], scope: Scope): Value[] {
  const args: Value[] = [];
  for (const node of nodes) {
    const value = machine.evaluate(node, scope);
    if (node.type !== 'SpreadElement') args.push(value);
    else if (!addItems(machine, args, value)) {
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
 * Follows a call, and gives what it returns. Calls that are chained are followed one after another from the first on, rather
 * than each inside the next: generated flows chain thousands.
 */
export function evaluateCall(machine: Machine, outermost: Call, scope: Scope): Value {
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
  let value = isMember(callee) ? undefined : callPlain(machine, node, callee, scope);
  for (const link of chain.reverse()) value = callMember(machine, link.node, link.callee, value, scope);
  return value ?? UNDEFINED;
}

function callPlain(machine: Machine, node: Call, callee: t.Node, scope: Scope): Value {
  if (callee.type === 'Super') {
    const { home, thisValue } = scope;
    const args = evaluateArguments(machine, node.arguments, scope);
    if (home !== undefined && thisValue?.type === 'instance') machine.constructParent(home, thisValue, args);
    return UNDEFINED;
  }
  const called = machine.evaluate(callee, scope);
  const args = evaluateArguments(machine, node.arguments, scope);
  const [first] = args;
  if (callee.type === 'Identifier' && callee.name === 'require' && first?.type === 'literal') {
    const isGlobal = findCell(scope, 'require') === undefined;
    const required = isGlobal ? machine.importModule(String(first.value), scope.file) : undefined;
    return required ?? unknown(scope.file, node);
  }
  return callValue(machine, called, args, node, scope);
}

function callValue(machine: Machine, called: Value, args: readonly Value[], node: Call, scope: Scope): Value {
  if (called.type === 'function') return machine.invoke(called, args);
  if (called.type === 'union') {
    return union(called.values.map((one) => callValue(machine, one, args, node, scope)));
  }
  noteEscapes(machine, args, node, scope);
  followArguments(machine, args);
  return unknown(scope.file, node);
}

/** @param chained the value of the object, where it is itself a call that was followed before. */
function callMember(machine: Machine, node: Call, callee: Member, chained: Value | undefined, scope: Scope): Value {
  const name = keyName(callee.property, callee.computed);
  if (callee.object.type === 'Super') return callSuper(machine, node, name, scope);
  const global = name === undefined ? undefined : globalName(callee.object, name, scope);
  const isOptional = callee.type === 'OptionalMemberExpression' && callee.optional;
  const evaluated = (): Value =>
    isOptional ? machine.evaluateGuarded(callee.object, scope) : machine.evaluate(callee.object, scope);
  const object = chained ?? evaluated();
  const results = alternatives(object).map((one) => {
    if (one.type === 'instance' && name !== undefined) return callMethod(machine, one, name, node, scope);
    const args = evaluateArguments(machine, node.arguments, scope);
    if (name === 'connect' && one.type === 'unknown' && args.some(({ type }) => type === 'instance')) {
      const origin = { file: scope.file, node: callee.object };
      hide(machine, undefined, origin, `It is not known which flow this connects: ${one.reason}.`);
    }
    const known =
      global !== undefined
        ? callGlobal(machine, global, args, node, scope)
        : one.type === 'array' && name !== undefined
          ? callArrayMethod(machine, one, name, args, node, scope)
          : undefined;
    if (known !== undefined) return known;
    const called = machine.read(one, name, callee, scope);
    if (global === undefined) return callValue(machine, called, args, node, scope);
    followArguments(machine, args);
    return unknown(scope.file, node);
  });
  return union(results);
}

/** `Object.keys` and the like, where the name is not bound to something else. */
function globalName(object: t.Node, name: string, scope: Scope): string | undefined {
  if (object.type !== 'Identifier' || findCell(scope, object.name) !== undefined) return undefined;
  return `${object.name}.${name}`;
}

function callMethod(machine: Machine, instance: Instance, name: string, node: Call, scope: Scope): Value {
  const method = findMethod(instance.class, name);
  const args = evaluateArguments(machine, node.arguments, scope);
  if (method !== undefined) {
    const value = machine.invoke(boundMethod(method, instance), args);
    if (name === 'run' && instance.flow !== undefined) noteRun(machine, instance, node, args[0] ?? UNDEFINED, scope);
    return value;
  }
  const field = instance.fields.get(name);
  if (field !== undefined) return callValue(machine, machine.branches.read(field) ?? UNDEFINED, args, node, scope);
  return callLibrary(machine, instance, name, args, node, scope);
}

function callSuper(machine: Machine, node: Call, name: string | undefined, scope: Scope): Value {
  const { home, thisValue } = scope;
  const args = evaluateArguments(machine, node.arguments, scope);
  if (thisValue?.type !== 'instance' || name === undefined) return unknown(scope.file, node);
  const method = findMethod(home?.parent, name);
  if (method !== undefined) return machine.invoke(boundMethod(method, thisValue), args);
  return callLibrary(machine, thisValue, name, args, node, scope);
}

function callLibrary(
  machine: Machine,
  instance: Instance,
  name: string,
  args: readonly Value[],
  node: Call,
  scope: Scope,
): Value {
  if (instance.flow !== undefined) {
    if (name === 'connect' && node.type === 'CallExpression') {
      connect(machine, instance, node, args, scope);
      return instance;
    }
    if (name === 'run') noteRun(machine, instance, node, args[0] ?? UNDEFINED, scope);
    // The flow's own post gives what its last node returned, which only its graph tells.
    if (name === 'post') return args[2] ?? UNDEFINED;
  } else if (name === 'post' && libraryOf(instance.class) !== 'RAGNode') return UNDEFINED;
  if (name === 'addSource') return instance;
  followArguments(machine, args);
  return unknown(scope.file, node);
}

/** A flow, or the shared state, that is given to code that cannot be read may be changed there. */
function noteEscapes(machine: Machine, args: readonly Value[], node: Call, scope: Scope): void {
  const { file } = scope;
  const callee = unwrapped(node.callee);
  const isGlobal = callee.type === 'Identifier' && findCell(scope, callee.name) === undefined;
  for (const arg of args) {
    if (arg.type === 'shared' && arg.path.length === 0 && !isGlobal) {
      const reason = `The shared state is given to \`${file.snippet(node.callee)}\`, which cannot be read from here`;
      arg.use.unread.push({ reason, range: file.range(node) });
    }
    if (arg.type === 'instance' && arg.flow !== undefined && !isGlobal) {
      const reason = `The flow is given to \`${file.snippet(node.callee)}\`, which cannot be read from here and may connect more.`;
      hide(machine, arg.flow, { file, node }, reason);
    }
  }
}

/** Sets a property; the start of a flow is more than a field. */
export function writeStart(machine: Machine, target: Value, value: Value, node: t.Node, scope: Scope): void {
  for (const one of alternatives(target)) {
    if (one.type === 'instance' && one.flow !== undefined)
      setStart(machine, one, value, { file: scope.file, node }, scope);
  }
}
