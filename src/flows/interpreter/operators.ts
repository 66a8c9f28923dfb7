import type * as t from '@babel/types';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import type { Rules } from '../syntax/nodes.ts';
import { NEXT } from './scopes.ts';
import {
  alternatives,
  literal,
  type Scope,
  textValue,
  truth,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from './values.ts';

/** Assignments, conditions and arithmetic. */
export const OPERATORS: Rules<[interpreter: AbstractInterpreter, scope: Scope], Value> = {
  AssignmentExpression(node, interpreter, scope) {
    const { left, right, operator } = node;
    if (operator === '=') {
      const value = interpreter.evaluate(right, scope);
      interpreter.bind(left, value, scope, false);
      return value;
    }
    const isConditional = operator === '??=' || operator === '||=' || operator === '&&=';
    const before = isConditional ? interpreter.evaluateGuarded(left, scope) : interpreter.evaluate(left, scope);
    const after = interpreter.evaluate(right, scope);
    // After `x ??= y` the key has a value in either case, so it counts as written.
    const value = isConditional ? union([before, after]) : combined(operator.slice(0, -1), before, after, node, scope);
    interpreter.bind(left, value, scope, false);
    return value;
  },
  ConditionalExpression(node, interpreter, scope) {
    const isTrue = truth(interpreter.evaluateGuarded(node.test, scope));
    if (isTrue !== undefined) return interpreter.evaluate(isTrue ? node.consequent : node.alternate, scope);
    return either(interpreter, [node.consequent, node.alternate], scope);
  },
  LogicalExpression({ left, right, operator }, interpreter, scope) {
    const first = interpreter.evaluateGuarded(left, scope);
    const isTrue = truth(first);
    const isNothing = first.type === 'undefined' || first.type === 'null';
    const isKnown = operator === '??' ? isNothing || isTrue !== undefined : isTrue !== undefined;
    const takesRight = operator === '??' ? isNothing : operator === '||' ? isTrue === false : isTrue === true;
    if (isKnown) return takesRight ? interpreter.evaluate(right, scope) : first;
    let second: Value = UNDEFINED;
    interpreter.branches.maybe(() => {
      second = interpreter.evaluate(right, scope);
    });
    const remaining = alternatives(first).filter((value) => {
      if (operator === '??') return value.type !== 'undefined' && value.type !== 'null';
      return truth(value) !== (operator === '&&');
    });
    return union([...remaining, second]);
  },
  BinaryExpression(node, interpreter, scope) {
    const { left, right, operator } = node;
    const comparesNothing = /^[!=]==?$/.test(operator) && [left, right].some(isNothing);
    const isTested = comparesNothing || operator === 'in';
    const [first, second] = [left, right].map((side) =>
      isTested ? interpreter.evaluateGuarded(side, scope) : interpreter.evaluate(side, scope),
    );
    if (operator === 'in' && second?.type === 'shared' && second.path.length === 0 && first?.type === 'literal') {
      second.use.guarded.add(String(first.value));
    }
    return combined(operator, first ?? UNDEFINED, second ?? UNDEFINED, node, scope);
  },
  UnaryExpression(node, interpreter, scope) {
    const { operator, argument } = node;
    if (operator === 'delete') return unknown(scope.file, node);
    const isTest = operator === '!' || operator === 'typeof';
    const value = isTest ? interpreter.evaluateGuarded(argument, scope) : interpreter.evaluate(argument, scope);
    const isTrue = truth(value);
    if (operator === '!' && isTrue !== undefined) return literal(!isTrue);
    if (operator === 'void') return UNDEFINED;
    if (operator === '-' && value.type === 'literal' && typeof value.value === 'number') return literal(-value.value);
    return unknown(scope.file, node);
  },
  UpdateExpression(node, interpreter, scope) {
    const before = interpreter.evaluate(node.argument, scope);
    const number = before.type === 'literal' && typeof before.value === 'number' ? before.value : undefined;
    const step = node.operator === '++' ? 1 : -1;
    const after = number === undefined ? unknown(scope.file, node) : literal(number + step);
    interpreter.bind(node.argument, after, scope, false);
    return node.prefix ? after : before;
  },
};

/** The union of the values of alternative expressions. */
function either(interpreter: AbstractInterpreter, nodes: readonly t.Node[], scope: Scope): Value {
  const values: Value[] = [];
  const branches = nodes.map((node) => (): number => {
    values.push(interpreter.evaluate(node, scope));
    return NEXT;
  });
  interpreter.branches.fork(branches);
  return union(values);
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
