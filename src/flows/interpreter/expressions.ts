import type * as t from '@babel/types';
import type { Machine } from './values/machine.ts';
import { given, keyName, ruleFor, type Rules, unwrapped } from '../syntax/nodes.ts';
import { OPERATORS } from './operators.ts';
import { createScope, findCell } from './values/scope.ts';
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
} from './values/values.ts';

type Rule = Rules<[machine: Machine, scope: Scope], Value>;

const toLiteral = ({ value }: { readonly value: number | boolean }): Value => literal(value);

function toFunction(node: t.FunctionExpression | t.FunctionDeclaration, machine: Machine, scope: Scope): Value {
  return createFunction(node, node.id?.name ?? '', machine, scope);
}

function createFunction(node: FunctionNode, name: string, machine: Machine, scope: Scope): Value {
  const value: FunctionValue = { type: 'function', node, scope, name };
  machine.findings.functions.push(value);
  return value;
}

const RULES: Rule = {
  ...OPERATORS,
  StringLiteral: (node, _machine, { file }) => textValue(node.value, { file, node }),
  NumericLiteral: toLiteral,
  BooleanLiteral: toLiteral,
  NullLiteral: () => NULL,
  TemplateLiteral: (node, machine, scope) => evaluateTemplate(machine, node, scope),
  Identifier: (node, machine, scope) => evaluateName(machine, node, scope),
  ThisExpression: (node, _machine, { file, thisValue }) => thisValue ?? unknown(file, node),
  ArrayExpression: (node, machine, scope) => evaluateArray(machine, node, scope),
  ObjectExpression: (node, machine, scope) => evaluateObject(machine, node, scope),
  FunctionExpression: toFunction,
  FunctionDeclaration: toFunction,
  ArrowFunctionExpression: (node, machine, scope) => createFunction(node, '', machine, scope),
  ClassExpression: (node, machine, scope) => evaluateClass(machine, node, scope),
  ClassDeclaration: (node, machine, scope) => evaluateClass(machine, node, scope),
  NewExpression: (node, machine, scope) => machine.construct(node, scope),
  CallExpression: (node, machine, scope) => machine.call(node, scope),
  OptionalCallExpression: (node, machine, scope) => machine.call(node, scope),
  ImportExpression(node, machine, scope) {
    const source = machine.evaluate(node.source, scope);
    const specifier = source.type === 'literal' ? String(source.value) : undefined;
    const imported = specifier === undefined ? undefined : machine.importModule(specifier, scope.file);
    return imported ?? unknown(scope.file, node);
  },
  MemberExpression: (node, machine, scope) => evaluateMember(machine, node, scope),
  OptionalMemberExpression: (node, machine, scope) => evaluateMember(machine, node, scope),
  SequenceExpression: ({ expressions }, machine, scope) =>
    expressions.map((part) => machine.evaluate(part, scope)).at(-1) ?? UNDEFINED,
  TaggedTemplateExpression(node, machine, scope) {
    for (const part of node.quasi.expressions) machine.evaluate(part, scope);
    return unknown(scope.file, node);
  },
  SpreadElement: ({ argument }, machine, scope) => machine.evaluate(argument, scope),
  YieldExpression(node, machine, scope) {
    if (given(node.argument)) machine.evaluate(node.argument, scope);
    return unknown(scope.file, node);
  },
};

/** What an expression stands for. */
export function evaluateExpression(machine: Machine, outer: t.Node, scope: Scope): Value {
  const node = unwrapped(outer);
  return ruleFor(RULES, node)?.(node, machine, scope) ?? unknown(scope.file, node);
}

function evaluateName(machine: Machine, node: t.Identifier, scope: Scope): Value {
  if (node.name === 'undefined') return UNDEFINED;
  const cell = findCell(scope, node.name);
  if (cell === undefined) return unknown(scope.file, node);
  return machine.branches.read(cell) ?? unknown(scope.file, node, 'has no value yet at this point of the code');
}

function evaluateTemplate(machine: Machine, node: t.TemplateLiteral, scope: Scope): Value {
  const parts = node.expressions.map((part) => machine.evaluate(part, scope));
  let text = node.quasis[0]?.value.cooked ?? '';
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'literal') return unknown(scope.file, node);
    text += String(part.value) + (node.quasis[index + 1]?.value.cooked ?? '');
  }
  return textValue(text, { file: scope.file, node });
}

function evaluateArray(machine: Machine, node: t.ArrayExpression, scope: Scope): Value {
  const items: Value[] = [];
  let isOpen = false;
  for (const element of node.elements) {
    const value = element === null ? UNDEFINED : machine.evaluate(element, scope);
    if (element?.type !== 'SpreadElement') items.push(value);
    else if (!addItems(machine, items, value)) isOpen = true;
  }
  return { type: 'array', items, isOpen };
}

/** Adds what is spread into a list; false where that is not known. */
export function addItems(machine: Machine, items: Value[], value: Value): boolean {
  if (value.type !== 'array' || value.isOpen) return false;
  machine.budget.spend('value', value.items.length);
  for (const item of value.items) items.push(item);
  return true;
}

function evaluateObject(machine: Machine, node: t.ObjectExpression, scope: Scope): Value {
  const fields = new Map<string, Value>();
  let isOpen = false;
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') {
      const value = machine.evaluate(property.argument, scope);
      if (value.type === 'object') {
        machine.budget.spend('value', value.fields.size);
        for (const [key, field] of value.fields) fields.set(key, field);
      }
      isOpen ||= value.type === 'object' ? value.isOpen : value.type !== 'undefined';
      continue;
    }
    const key = keyName(property.key, property.computed) ?? computedKey(machine, property.key, scope);
    let value: Value;
    if (property.type === 'ObjectMethod') value = { type: 'function', node: property, scope, name: key ?? '' };
    else value = machine.evaluate(property.value, scope);
    if (key === undefined) isOpen = true;
    else fields.set(key, value);
  }
  return { type: 'object', fields, isOpen, origin: { file: scope.file, node } };
}

function computedKey(machine: Machine, key: t.Node, scope: Scope): string | undefined {
  const value = machine.evaluate(key, scope);
  return value.type === 'literal' ? String(value.value) : undefined;
}

function evaluateClass(machine: Machine, node: t.ClassDeclaration | t.ClassExpression, scope: Scope): Value {
  const known = machine.findings.classes.get(node);
  if (known?.scope === scope) return known;
  const parent = !given(node.superClass) ? undefined : machine.evaluate(node.superClass, scope);
  const statics = new Map<string, Value>();
  const value: ClassValue = { type: 'class', node, scope, name: node.id?.name ?? '', parent, statics };
  machine.findings.classes.set(node, value);
  const inner = createScope({ file: scope.file, parent: scope, thisValue: value });
  for (const member of node.body.body) {
    if (member.type === 'ClassProperty' && member.static && given(member.value)) {
      const key = keyName(member.key, member.computed);
      if (key !== undefined) statics.set(key, machine.evaluate(member.value, inner));
    } else if (member.type === 'ClassMethod' && member.static && member.kind === 'method') {
      const key = keyName(member.key, member.computed);
      if (key !== undefined) statics.set(key, { type: 'function', node: member, scope: inner, name: key });
    } else if (member.type === 'StaticBlock') machine.execute(member.body, inner);
  }
  return value;
}

function evaluateMember(machine: Machine, node: t.MemberExpression | t.OptionalMemberExpression, scope: Scope): Value {
  if (node.object.type === 'Super') return unknown(scope.file, node);
  const isOptional = node.type === 'OptionalMemberExpression' && node.optional;
  const object = isOptional ? machine.evaluateGuarded(node.object, scope) : machine.evaluate(node.object, scope);
  const key = keyName(node.property, node.computed) ?? computedKey(machine, node.property, scope);
  return machine.read(object, key, node, scope);
}
