import type * as t from '@babel/types';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { given, keyName, nodeRule, type Rules, unwrapped } from '../syntax/nodes.ts';
import { OPERATORS } from './operators.ts';
import { createScope, findCell } from './scopes.ts';
import {
  type ClassValue,
  type FunctionNode,
  type FunctionValue,
  literal,
  NULL,
  type Scope,
  textValue,
  UNDEFINED,
  unknown,
  type Value,
} from './values.ts';

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
