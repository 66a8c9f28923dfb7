import type * as t from '@babel/types';
import type { Machine } from './values/machine.ts';
import type { Rules } from '../syntax/nodes.ts';
import { NEXT } from './values/scope.ts';
import { truth } from './values/truth.ts';
import {
  alternatives,
  literal,
  type Scope,
  textValue,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from './values/values.ts';

/** Assignments, conditions and arithmetic. */
export const OPERATORS: Rules<[machine: Machine, scope: Scope], Value> = {
  AssignmentExpression: (node, machine, scope) => evaluateAssignment(machine, node, scope),
  ConditionalExpression: (node, machine, scope) => evaluateConditional(machine, node, scope),
  LogicalExpression: (node, machine, scope) => evaluateLogical(machine, node, scope),
  BinaryExpression: (node, machine, scope) => evaluateBinary(machine, node, scope),
  UnaryExpression: (node, machine, scope) => evaluateUnary(machine, node, scope),
  UpdateExpression: (node, machine, scope) => evaluateUpdate(machine, node, scope),
};

function evaluateAssignment(machine: Machine, node: t.AssignmentExpression, scope: Scope): Value {
  const { left, right, operator } = node;
  if (operator === '=') {
    const value = machine.evaluate(right, scope);
    machine.bind(left, value, scope, false);
    return value;
  }
  const isConditional = operator === '??=' || operator === '||=' || operator === '&&=';
  const before = isConditional ? machine.evaluateGuarded(left, scope) : machine.evaluate(left, scope);
  const after = machine.evaluate(right, scope);
  // `x ??= y` leaves something behind either way, so that it counts as a write.
  const value = isConditional ? union([before, after]) : combined(operator.slice(0, -1), before, after, node, scope);
  machine.bind(left, value, scope, false);
  return value;
}

function evaluateConditional(machine: Machine, node: t.ConditionalExpression, scope: Scope): Value {
  const isTrue = truth(machine.evaluateGuarded(node.test, scope));
  if (isTrue !== undefined) return machine.evaluate(isTrue ? node.consequent : node.alternate, scope);
  return either(machine, [node.consequent, node.alternate], scope);
}

/** The values of expressions of which one is evaluated. */
function either(machine: Machine, nodes: readonly t.Node[], scope: Scope): Value {
  const values: Value[] = [];
  const branches = nodes.map((node) => (): number => {
    values.push(machine.evaluate(node, scope));
    return NEXT;
  });
  machine.branches.fork(branches, union, UNDEFINED);
  return union(values);
}

function evaluateLogical(machine: Machine, { left, right, operator }: t.LogicalExpression, scope: Scope): Value {
  const first = machine.evaluateGuarded(left, scope);
  const isTrue = truth(first);
  const isNothing = first.type === 'undefined' || first.type === 'null';
  const isKnown = operator === '??' ? isNothing || isTrue !== undefined : isTrue !== undefined;
  const takesRight = operator === '??' ? isNothing : operator === '||' ? isTrue === false : isTrue === true;
  if (isKnown) return takesRight ? machine.evaluate(right, scope) : first;
  let second: Value = UNDEFINED;
  const branch = (): number => {
    second = machine.evaluate(right, scope);
    return NEXT;
  };
  machine.branches.fork([branch, () => NEXT], union, UNDEFINED);
  const kept = alternatives(first).filter((value) => {
    if (operator === '??') return value.type !== 'undefined' && value.type !== 'null';
    return truth(value) !== (operator === '&&');
  });
  return union([...kept, second]);
}

function evaluateBinary(machine: Machine, node: t.BinaryExpression, scope: Scope): Value {
  const { left, right, operator } = node;
  const comparesNothing = /^[!=]==?$/.test(operator) && [left, right].some(isNothing);
  const isTested = comparesNothing || operator === 'in';
  const [first, second] = [left, right].map((side) =>
    isTested ? machine.evaluateGuarded(side, scope) : machine.evaluate(side, scope),
  );
  if (operator === 'in' && second?.type === 'shared' && second.path.length === 0 && first?.type === 'literal') {
    second.use.guarded.add(String(first.value));
  }
  return combined(operator, first ?? UNDEFINED, second ?? UNDEFINED, node, scope);
}

function isNothing(node: t.Node): boolean {
  return node.type === 'NullLiteral' || (node.type === 'Identifier' && node.name === 'undefined');
}

function combined(operator: string, left: Value, right: Value, node: t.Node, { file }: Scope): Value {
  if (left.type !== 'literal' || right.type !== 'literal') return unknown(file, node);
  const [a, b] = [left.value, right.value];
  if (operator === '===' || operator === '==') return literal(a === b);
  if (operator === '!==' || operator === '!=') return literal(a !== b);
  if (operator === '+' && (typeof a === 'string' || typeof b === 'string'))
    return textValue(`${a}${b}`, { file, node });
  if (typeof a !== 'number' || typeof b !== 'number') return unknown(file, node);
  const value = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '%': a % b }[operator];
  if (value !== undefined) return literal(value);
  const isTrue = { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b }[operator];
  return isTrue === undefined ? unknown(file, node) : literal(isTrue);
}

function evaluateUnary(machine: Machine, node: t.UnaryExpression, scope: Scope): Value {
  const { operator, argument } = node;
  if (operator === 'delete') return unknown(scope.file, node);
  const isTest = operator === '!' || operator === 'typeof';
  const value = isTest ? machine.evaluateGuarded(argument, scope) : machine.evaluate(argument, scope);
  const isTrue = truth(value);
  if (operator === '!' && isTrue !== undefined) return literal(!isTrue);
  if (operator === 'void') return UNDEFINED;
  if (operator === '-' && value.type === 'literal' && typeof value.value === 'number') return literal(-value.value);
  return unknown(scope.file, node);
}

function evaluateUpdate(machine: Machine, node: t.UpdateExpression, scope: Scope): Value {
  const before = machine.evaluate(node.argument, scope);
  const number = before.type === 'literal' && typeof before.value === 'number' ? before.value : undefined;
  const step = node.operator === '++' ? 1 : -1;
  const after = number === undefined ? unknown(scope.file, node) : literal(number + step);
  machine.bind(node.argument, after, scope, false);
  return node.prefix ? after : before;
}
