import type * as t from '@babel/types';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { given, keyName, nodeRule, type Rules, unwrapped } from '../syntax/nodes.ts';
import { createScope, findCell, NEXT } from './scopes.ts';
import {
  alternatives,
  type ClassValue,
  type FunctionNode,
  type FunctionValue,
  literal,
  NULL,
  type Scope,
  textValue,
  truth,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from './values.ts';

/** Assignments, conditions and arithmetic. */
const OPERATORS: Rules<[interpreter: AbstractInterpreter, scope: Scope], Value> = {
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

type Rule = Rules<[interpreter: AbstractInterpreter, scope: Scope], Value>;

const toLiteral = ({ value }: { readonly value: number | boolean }): Value => literal(value);

function toFunction(
  node: t.FunctionExpression | t.FunctionDeclaration,
  interpreter: AbstractInterpreter,
  scope: Scope,
): Value {
  return createFunction(node, node.id?.name ?? '', interpreter, scope);
}

function createFunction(node: FunctionNode, name: string, interpreter: AbstractInterpreter, scope: Scope): Value {
  const value: FunctionValue = { type: 'function', node, scope, name };
  interpreter.findings.functions.push(value);
  return value;
}

const RULES: Rule = {
  ...OPERATORS,
  StringLiteral: (node, _interpreter, { file }) => textValue(node.value, { file, node }),
  NumericLiteral: toLiteral,
  BooleanLiteral: toLiteral,
  NullLiteral: () => NULL,
  TemplateLiteral(node, interpreter, scope) {
    const parts = node.expressions.map((part) => interpreter.evaluate(part, scope));
    let text = node.quasis[0]?.value.cooked ?? '';
    for (const [index, part] of parts.entries()) {
      if (part.type !== 'literal') return unknown(scope.file, node);
      text += String(part.value) + (node.quasis[index + 1]?.value.cooked ?? '');
    }
    return textValue(text, { file: scope.file, node });
  },
  Identifier(node, interpreter, scope) {
    if (node.name === 'undefined') return UNDEFINED;
    const cell = findCell(scope, node.name);
    if (cell === undefined) return unknown(scope.file, node);
    return interpreter.branches.read(cell) ?? unknown(scope.file, node, 'has no value yet at this point');
  },
  ThisExpression: (node, _interpreter, { file, thisValue }) => thisValue ?? unknown(file, node),
  ArrayExpression(node, interpreter, scope) {
    const items: Value[] = [];
    let isOpen = false;
    for (const element of node.elements) {
      const value = element === null ? UNDEFINED : interpreter.evaluate(element, scope);
      if (element?.type !== 'SpreadElement') items.push(value);
      else if (!addItems(interpreter, items, value)) isOpen = true;
    }
    return { type: 'array', items, isOpen };
  },
  ObjectExpression(node, interpreter, scope) {
    const fields = new Map<string, Value>();
    let isOpen = false;
    for (const property of node.properties) {
      if (property.type === 'SpreadElement') {
        const value = interpreter.evaluate(property.argument, scope);
        if (value.type === 'object') {
          interpreter.limit.spend('value', value.fields.size);
          for (const [key, field] of value.fields) fields.set(key, field);
        }
        isOpen ||= value.type === 'object' ? value.isOpen : value.type !== 'undefined';
        continue;
      }
      const key = keyName(property.key, property.computed) ?? computedKey(interpreter, property.key, scope);
      let value: Value;
      if (property.type === 'ObjectMethod') value = { type: 'function', node: property, scope, name: key ?? '' };
      else value = interpreter.evaluate(property.value, scope);
      if (key === undefined) isOpen = true;
      else fields.set(key, value);
    }
    return { type: 'object', fields, isOpen, origin: { file: scope.file, node } };
  },
  FunctionExpression: toFunction,
  FunctionDeclaration: toFunction,
  ArrowFunctionExpression: (node, interpreter, scope) => createFunction(node, '', interpreter, scope),
  ClassExpression: evaluateClass,
  ClassDeclaration: evaluateClass,
  NewExpression: (node, interpreter, scope) => interpreter.construct(node, scope),
  CallExpression: (node, interpreter, scope) => interpreter.call(node, scope),
  OptionalCallExpression: (node, interpreter, scope) => interpreter.call(node, scope),
  ImportExpression(node, interpreter, scope) {
    const source = interpreter.evaluate(node.source, scope);
    const specifier = source.type === 'literal' ? String(source.value) : undefined;
    const imported = specifier === undefined ? undefined : interpreter.importModule(specifier, scope.file);
    return imported ?? unknown(scope.file, node);
  },
  MemberExpression: evaluateMember,
  OptionalMemberExpression: evaluateMember,
  SequenceExpression: ({ expressions }, interpreter, scope) =>
    expressions.map((part) => interpreter.evaluate(part, scope)).at(-1) ?? UNDEFINED,
  TaggedTemplateExpression(node, interpreter, scope) {
    for (const part of node.quasi.expressions) interpreter.evaluate(part, scope);
    return unknown(scope.file, node);
  },
  SpreadElement: ({ argument }, interpreter, scope) => interpreter.evaluate(argument, scope),
  YieldExpression(node, interpreter, scope) {
    if (given(node.argument)) interpreter.evaluate(node.argument, scope);
    return unknown(scope.file, node);
  },
};

/** The value of an expression. */
export function evaluateExpression(interpreter: AbstractInterpreter, outer: t.Node, scope: Scope): Value {
  const node = unwrapped(outer);
  return nodeRule(RULES, node)?.(node, interpreter, scope) ?? unknown(scope.file, node);
}

/** Adds the items of a spread to a list; returns false if they are unknown. */
export function addItems(interpreter: AbstractInterpreter, items: Value[], value: Value): boolean {
  if (value.type !== 'array' || value.isOpen) return false;
  interpreter.limit.spend('value', value.items.length);
  for (const item of value.items) items.push(item);
  return true;
}

/** The name of a computed property; undefined if the source does not determine it. */
export function computedKey(interpreter: AbstractInterpreter, key: t.Node, scope: Scope): string | undefined {
  const value = interpreter.evaluate(key, scope);
  return value.type === 'literal' ? String(value.value) : undefined;
}

function evaluateClass(
  node: t.ClassDeclaration | t.ClassExpression,
  interpreter: AbstractInterpreter,
  scope: Scope,
): Value {
  const existing = interpreter.findings.classes.get(node);
  if (existing?.scope === scope) return existing;
  const parent = !given(node.superClass) ? undefined : interpreter.evaluate(node.superClass, scope);
  const statics = new Map<string, Value>();
  const value: ClassValue = { type: 'class', node, scope, name: node.id?.name ?? '', parent, statics };
  interpreter.findings.classes.set(node, value);
  const inner = createScope({ file: scope.file, parent: scope, thisValue: value });
  for (const member of node.body.body) {
    if (member.type === 'ClassProperty' && member.static && given(member.value)) {
      const key = keyName(member.key, member.computed);
      if (key !== undefined) statics.set(key, interpreter.evaluate(member.value, inner));
    } else if (member.type === 'ClassMethod' && member.static && member.kind === 'method') {
      const key = keyName(member.key, member.computed);
      if (key !== undefined) statics.set(key, { type: 'function', node: member, scope: inner, name: key });
    } else if (member.type === 'StaticBlock') interpreter.execute(member.body, inner);
  }
  return value;
}

function evaluateMember(
  node: t.MemberExpression | t.OptionalMemberExpression,
  interpreter: AbstractInterpreter,
  scope: Scope,
): Value {
  if (node.object.type === 'Super') return unknown(scope.file, node);
  const isOptional = node.type === 'OptionalMemberExpression' && node.optional;
  const object = isOptional
    ? interpreter.evaluateGuarded(node.object, scope)
    : interpreter.evaluate(node.object, scope);
  const key = keyName(node.property, node.computed) ?? computedKey(interpreter, node.property, scope);
  return interpreter.read(object, key, node, scope);
}

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
