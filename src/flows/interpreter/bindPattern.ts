import type * as t from '@babel/types';
import { computedKey } from './expressions.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { keyName, nodeRule, type Rules, unwrapped } from '../syntax/nodes.ts';
import { createCell, findCell, nameIn } from './scopes.ts';
import { alternatives, type Instance, type Scope, UNDEFINED, union, unknown, type Value } from './values.ts';

const MAX_NAMED_DEPTH = 3;

type Arguments = [interpreter: AbstractInterpreter, value: Value, scope: Scope, isNew: boolean];

const RULES: Rules<Arguments, void> = {
  Identifier({ name }, interpreter, value, scope, isNew) {
    const existing = isNew ? undefined : findCell(scope, name);
    if (existing !== undefined) interpreter.branches.write(existing, value);
    else scope.cells.set(name, createCell(value));
    if ((value.type === 'function' || value.type === 'class') && value.name === '') value.name = name;
    nameInstances(value, nameIn(scope, name), name, scope);
  },
  AssignmentPattern: ({ left, right }, interpreter, value, scope, isNew) =>
    bindPattern(interpreter, left, withDefault(interpreter, value, right, scope), scope, isNew),
  ArrayPattern({ elements }, interpreter, value, scope, isNew) {
    for (const [index, element] of elements.entries()) {
      if (element === null || element.type === 'VoidPattern') continue;
      let item: Value;
      if (value.type === 'array' && element.type === 'RestElement') {
        item = { type: 'array', items: value.items.slice(index), isOpen: value.isOpen };
      } else if (value.type === 'array') {
        item = value.items[index] ?? (value.isOpen ? unknown(scope.file, element) : UNDEFINED);
      } else item = value.type === 'shared' ? value : unknown(scope.file, element);
      bindPattern(interpreter, element, item, scope, isNew);
    }
  },
  ObjectPattern({ properties }, interpreter, value, scope, isNew) {
    const boundKeys = new Set<string>();
    for (const property of properties) {
      if (property.type === 'RestElement') {
        bindPattern(interpreter, property.argument, restOf(value, boundKeys, property, scope), scope, isNew);
        continue;
      }
      const key = keyName(property.key, property.computed);
      if (key !== undefined) boundKeys.add(key);
      const { value: target } = property;
      const isGuarded = target.type === 'AssignmentPattern';
      if (isGuarded && value.type === 'shared' && key !== undefined) value.use.guarded.add(key);
      bindPattern(interpreter, target, interpreter.read(value, key, property.key, scope), scope, isNew);
    }
  },
  RestElement: ({ argument }, interpreter, ...rest) => bindPattern(interpreter, argument, ...rest),
  TSParameterProperty: ({ parameter }, interpreter, ...rest) => bindPattern(interpreter, parameter, ...rest),
  MemberExpression(node, interpreter, value, scope) {
    if (node.object.type === 'Super') return;
    const target = interpreter.evaluate(node.object, scope);
    const key = keyName(node.property, node.computed) ?? computedKey(interpreter, node.property, scope);
    interpreter.write(target, key, value, node, scope);
    if (key === undefined || value.type !== 'instance') return;
    const text = propertyText(scope.file.textOf(node.object), key);
    const owner = target.type === 'instance' ? target : undefined;
    const path = owner === undefined ? text : key;
    nameInstance(value, { text: path, owner, depth: scope.depth }, text, scope);
  },
};

/** Binds a pattern to a value, as new names of the scope or (without `isNew`) as existing names and properties. */
export function bindPattern(
  interpreter: AbstractInterpreter,
  outer: t.Node,
  value: Value,
  scope: Scope,
  isNew: boolean,
): void {
  const pattern = unwrapped(outer);
  nodeRule(RULES, pattern)?.(pattern, interpreter, value, scope, isNew);
}

/** Names instances after the variable or property that holds them, and records how code refers to them. */
function nameInstances(value: Value, name: string, text: string, scope: Scope, depth = 0): void {
  if (value.type === 'instance') nameInstance(value, { text: name, owner: undefined, depth: scope.depth }, text, scope);
  // Objects can contain themselves, and nobody keeps nodes deep inside objects.
  if (value.type === 'object' && depth < MAX_NAMED_DEPTH) {
    for (const [key, field] of value.fields) {
      if (field.type === 'instance' || field.type === 'object') {
        nameInstances(field, `${name}.${key}`, propertyText(text, key), scope, depth + 1);
      }
    }
  }
  if (value.type === 'array') {
    for (const [index, item] of value.items.entries()) {
      if (item.type !== 'instance') continue;
      nameInstances(item, `${name}.${item.class.name}`, `${text}[${index}]`, scope);
    }
  }
}

function propertyText(object: string, key: string): string {
  return /^[\p{ID_Start}$_#][\p{ID_Continue}$]*$/u.test(key) ? `${object}.${key}` : `${object}['${key}']`;
}

function nameInstance(instance: Instance, name: NonNullable<Instance['name']>, text: string, scope: Scope): void {
  if (instance.name === undefined || name.depth < instance.name.depth) instance.name = name;
  instance.references.push({ text, scope });
}

function withDefault(interpreter: AbstractInterpreter, value: Value, fallback: t.Node, scope: Scope): Value {
  const values = alternatives(value);
  if (values.every(({ type }) => type !== 'undefined' && type !== 'unknown' && type !== 'shared')) return value;
  const otherwise = interpreter.evaluate(fallback, scope);
  return union([...values.filter(({ type }) => type !== 'undefined'), otherwise]);
}

function restOf(value: Value, boundKeys: ReadonlySet<string>, node: t.Node, scope: Scope): Value {
  if (value.type === 'object') {
    const fields = new Map([...value.fields].filter(([key]) => !boundKeys.has(key)));
    return { type: 'object', fields, isOpen: value.isOpen };
  }
  if (value.type === 'shared' && value.path.length === 0) {
    const reason = `\`${scope.file.snippet(node)}\` takes all other keys of the shared state`;
    value.use.unread.push({ reason, range: scope.file.range(node) });
  }
  return unknown(scope.file, node);
}
