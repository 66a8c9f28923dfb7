import type * as t from '@babel/types';
import { assertNever } from '../../core/errors.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { setStart } from './drafts.ts';
import { keyName } from '../syntax/nodes.ts';
import { createCell, createScope } from './scopes.ts';
import { readSharedKey, writeSharedKey } from './shared.ts';
import type { LibraryName } from './library.ts';
import {
  type ClassValue,
  type FunctionValue,
  type Instance,
  literal,
  type Scope,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from './values.ts';

/** The class of the library that a class extends, directly or through others. */
export function libraryOf(value: Value | undefined): LibraryName | undefined {
  if (value?.type === 'library') return value.name;
  return value?.type === 'class' ? libraryOf(value.parent) : undefined;
}

type Method = t.ClassMethod | t.ClassPrivateMethod;

export interface FoundMethod {
  readonly node: Method;
  readonly home: ClassValue;
}

/** The method of a class or of its parents; undefined if the library's own applies. */
export function findMethod(value: Value | undefined, name: string): FoundMethod | undefined {
  if (value?.type !== 'class') return undefined;
  for (const member of value.node.body.body) {
    if (member.type !== 'ClassMethod' && member.type !== 'ClassPrivateMethod') continue;
    if (member.static || keyName(member.key, 'computed' in member && member.computed) !== name) continue;
    return { node: member, home: value };
  }
  return findMethod(value.parent, name);
}

/** A method bound to an instance. */
export function boundMethod({ node, home }: FoundMethod, instance: Instance): FunctionValue {
  const scope = createScope({ file: home.scope.file, parent: home.scope, thisValue: instance, home });
  return { type: 'function', node, scope, name: keyName(node.key, false) ?? '' };
}

/** The value of a property; `key` is undefined if it is unknown. */
export function readMember(
  interpreter: AbstractInterpreter,
  value: Value,
  key: string | undefined,
  node: t.Node,
  place: { readonly scope: Scope; readonly isGuarded: boolean },
): Value {
  const { file } = place.scope;
  switch (value.type) {
    case 'shared':
      return readSharedKey(interpreter, value, key, node, place);
    case 'union':
      return union(value.values.map((one) => readMember(interpreter, one, key, node, place)));
    case 'object':
      if (key === undefined) {
        interpreter.limit.spend('value', value.fields.size);
        if (value.isOpen) return unknown(file, node);
        // TypeScript checks that the key is one of these.
        return union([...value.fields.values(), ...(isTypeScript(file.path) ? [] : [UNDEFINED])]);
      }
      return value.fields.get(key) ?? (value.isOpen ? unknown(file, node) : UNDEFINED);
    case 'array': {
      if (key === 'length' && !value.isOpen) return literal(value.items.length);
      if (key === undefined || !/^\d+$/.test(key)) return unknown(file, node);
      return value.items[Number(key)] ?? (value.isOpen ? unknown(file, node) : UNDEFINED);
    }
    case 'instance':
      return key === undefined ? unknown(file, node) : readField(interpreter, value, key, node, file);
    case 'class':
      return (key === undefined ? undefined : value.statics.get(key)) ?? unknown(file, node);
    case 'module':
      return key === undefined ? unknown(file, node) : value.get(key);
    case 'literal':
      if (key === 'length' && typeof value.value === 'string') return literal(value.value.length);
      return unknown(file, node);
    case 'undefined':
    case 'null':
    case 'function':
    case 'library':
    case 'unknown':
      return unknown(file, node);
    default:
      return assertNever(value);
  }
}

function isTypeScript(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path);
}

function readField(
  interpreter: AbstractInterpreter,
  instance: Instance,
  key: string,
  node: t.Node,
  file: Scope['file'],
): Value {
  const cell = instance.fields.get(key);
  if (cell !== undefined) return interpreter.branches.read(cell) ?? UNDEFINED;
  const method = findMethod(instance.class, key);
  if (method?.node.kind === 'get') return interpreter.invoke(boundMethod(method, instance), []);
  if (method?.node.kind === 'method') return boundMethod(method, instance);
  if (key === 'start' && instance.flow?.start !== undefined) return instance.flow.start;
  return unknown(file, node);
}

/** Sets a property, if that matters for reading flows; `start` of a flow is its first node. */
export function writeMember(
  interpreter: AbstractInterpreter,
  target: Value,
  key: string | undefined,
  value: Value,
  node: t.Node,
  scope: Scope,
): void {
  if (target.type === 'shared') writeSharedKey(interpreter, target, key, node, scope);
  else if (target.type === 'union') {
    for (const one of target.values) writeMember(interpreter, one, key, value, node, scope);
  } else if (target.type === 'object') {
    if (key === undefined) target.isOpen = true;
    else target.fields.set(key, value);
  } else if (target.type === 'array') {
    if (key !== undefined && /^\d{1,4}$/.test(key)) target.items[Number(key)] = value;
    else target.isOpen = true;
  } else if (target.type === 'instance' && key !== undefined) {
    const cell = target.fields.get(key) ?? createCell(undefined);
    target.fields.set(key, cell);
    interpreter.branches.write(cell, value);
    if (key === 'start') setStart(interpreter, target, value, { file: scope.file, node }, scope);
  } else if (target.type === 'class' && key !== undefined) target.statics.set(key, value);
}
