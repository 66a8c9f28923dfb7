import type * as t from '@babel/types';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { type ArrayValue, literal, type Scope, UNDEFINED, union, unknown, type Value } from './values.ts';

/** The result of an array method; undefined if the method is not supported. */
export function callArrayMethod(
  interpreter: AbstractInterpreter,
  array: ArrayValue,
  name: string,
  args: readonly Value[],
  node: t.Node,
  scope: Scope,
): Value | undefined {
  const [first = UNDEFINED, second = UNDEFINED] = args;
  const { items, isOpen } = array;
  interpreter.limit.spend('value', items.length);
  const each = (item: Value, index: number): Value =>
    first.type === 'function' ? interpreter.invoke(first, [item, literal(index), array]) : unknown(scope.file, node);
  const list = (values: readonly Value[], open = isOpen): Value => {
    interpreter.limit.spend('value', values.length);
    return { type: 'array', items: [...values], isOpen: open };
  };
  const numberOf = (value: Value): number | undefined =>
    value.type === 'literal' && typeof value.value === 'number' ? value.value : undefined;
  switch (name) {
    case 'push':
      if (interpreter.branches.isConditional) array.isOpen = true;
      for (const arg of args) items.push(arg);
      return literal(items.length);
    case 'forEach':
      if (isOpen) return undefined;
      for (const [index, item] of items.entries()) each(item, index);
      return UNDEFINED;
    case 'map':
      return isOpen ? undefined : list(items.map(each));
    case 'flatMap':
      if (isOpen) return undefined;
      return list(items.map(each).flatMap((value) => (value.type === 'array' ? value.items : [value])));
    case 'filter': {
      for (const [index, item] of items.entries()) each(item, index);
      return list(items, true);
    }
    case 'find':
      for (const [index, item] of items.entries()) each(item, index);
      return union([...items, UNDEFINED]);
    case 'reduce': {
      if (isOpen || first.type !== 'function') return undefined;
      const [start, rest] = args.length > 1 ? [second, items] : [items[0] ?? UNDEFINED, items.slice(1)];
      return rest.reduce((sum, item, index) => interpreter.invoke(first, [sum, item, literal(index)]), start);
    }
    case 'slice':
      if (isOpen || (args.length > 0 && numberOf(first) === undefined)) return undefined;
      return list(items.slice(numberOf(first), numberOf(second)));
    case 'concat':
      return list([...items, ...args.flatMap((arg) => (arg.type === 'array' ? arg.items : [arg]))]);
    case 'at': {
      const index = numberOf(first);
      return isOpen || index === undefined ? undefined : (items.at(index) ?? UNDEFINED);
    }
    case 'reverse':
    case 'toReversed':
      return isOpen ? undefined : list(items.toReversed());
    case 'entries':
      return isOpen ? undefined : list(items.map((item, index) => list([literal(index), item], false)));
    case 'values':
      return array;
    case 'keys':
      return isOpen ? undefined : list(items.map((_, index) => literal(index)));
    default:
      return undefined;
  }
}

/** The result of a function of `Object`, `Array` or `Promise`; undefined if it is not supported. */
export function callGlobal(
  interpreter: AbstractInterpreter,
  name: string,
  args: readonly Value[],
  node: t.Node,
  scope: Scope,
): Value | undefined {
  const [first = UNDEFINED, second = UNDEFINED] = args;
  interpreter.limit.spend('value', sizeOf(args));
  switch (name) {
    case 'Object.keys':
    case 'Object.values':
    case 'Object.entries': {
      if (first.type !== 'object') return undefined;
      const items = [...first.fields].map(([key, value]): Value => {
        if (name === 'Object.keys') return literal(key);
        return name === 'Object.values' ? value : { type: 'array', items: [literal(key), value], isOpen: false };
      });
      return { type: 'array', items, isOpen: first.isOpen };
    }
    case 'Object.freeze':
      return first;
    case 'Object.assign':
      for (const from of args.slice(1)) {
        if (from.type === 'object') {
          for (const [key, value] of from.fields) interpreter.write(first, key, value, node, scope);
        }
        if (from.type !== 'object' || from.isOpen) interpreter.write(first, undefined, from, node, scope);
      }
      return first;
    case 'Array.from': {
      const items = first.type === 'array' ? first.items : itemsOfLength(first);
      if (items === undefined || (first.type === 'array' && first.isOpen)) return undefined;
      const results = items.map((item, index) =>
        second.type === 'function' ? interpreter.invoke(second, [item, literal(index)]) : item,
      );
      return { type: 'array', items: results, isOpen: false };
    }
    case 'Promise.all':
    case 'Promise.resolve':
      return first;
    default:
      return undefined;
  }
}

/** The number of items and fields in the arguments of a call. */
function sizeOf(args: readonly Value[]): number {
  return args.reduce((sum, arg) => {
    if (arg.type === 'object') return sum + (itemsOfLength(arg)?.length ?? arg.fields.size);
    return sum + (arg.type === 'array' ? arg.items.length : 0);
  }, 0);
}

function itemsOfLength(value: Value): readonly Value[] | undefined {
  const length = value.type === 'object' ? value.fields.get('length') : undefined;
  if (length?.type !== 'literal' || typeof length.value !== 'number' || length.value > 10_000) return undefined;
  return Array.from({ length: length.value }, () => UNDEFINED);
}

/** Evaluates functions passed to an unknown function, because it may call them. */
export function followArguments(interpreter: AbstractInterpreter, args: readonly Value[]): void {
  for (const arg of args) {
    if (arg.type === 'function') interpreter.branches.maybe(() => interpreter.follow(arg));
  }
}
