/** Represents a value that JSON cannot store, or that is too long to be recorded. */
export const UNRECORDED = Symbol('a value that was not recorded'); /**
 * A value as a trace shows it: JSON in which a `Special` represents anything that JSON cannot store or that is too large.
 * A key of the value itself that starts with `$` has one more `$` here.
 */
export type StateView = string | number | boolean | null | readonly StateView[] | StateObject;

/** An object of the value, or a `Special`, the only one with the key `$`. */
export interface StateObject {
  readonly [key: string]: StateView;
}

/** Represents a value that JSON cannot store: `{ $: 'bigint', text: '12n' }`, `{ $: 'string', text: 'abc', size: 90000 }`. */
export interface Special extends StateObject {
  readonly $: SpecialKind;
  readonly text: string;
}

type SpecialKind =
  | 'bigint'
  | 'class' // an instance; its own properties follow under `value`
  | 'cycle' // the text is the path of the object that it refers back to
  | 'date'
  | 'deep'
  | 'function'
  | 'map'
  | 'more' // the last item of a list, or of an object under `$more`: how many were left out
  | 'number' // NaN and the infinities
  | 'set'
  | 'string' // a long text; `size` is its whole length
  | 'symbol'
  | 'undefined'
  | 'unreadable'; // a getter or a proxy that threw

export interface ViewLimits {
  /** Characters of one string. */
  readonly text: number;
  /** Items of a list, and keys of an object. */
  readonly items: number;
  readonly depth: number;
  /** Characters and items of the whole view together. */
  readonly total: number;
}

const VIEW_LIMITS: ViewLimits = { text: 4_000, items: 200, depth: 12, total: 200_000 };

/** Shows any value, bounded in size; never throws. `clean` is applied to every text, to remove secrets. */
export function stateViewOf(
  value: unknown,
  {
    limits = VIEW_LIMITS,
    clean = (text: string) => text,
  }: { readonly limits?: ViewLimits; readonly clean?: (text: string) => string } = {},
): StateView {
  return new Viewer(limits, clean).view(value, 'shared', []);
}

/** Whether this represents a value that JSON cannot store. */
export function isSpecial(view: StateView): view is Special {
  return typeof view === 'object' && view !== null && '$' in view;
}

type Parents = readonly { readonly value: object; readonly at: string }[];

class Viewer {
  readonly #limits: ViewLimits;
  readonly #clean: (text: string) => string;
  #room: number;

  constructor(limits: ViewLimits, clean: (text: string) => string) {
    this.#limits = limits;
    this.#clean = clean;
    this.#room = limits.total;
  }

  view(value: unknown, at: string, parents: Parents): StateView {
    this.#room -= 1;
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) ? value : special('number', String(value));
      case 'bigint':
        return special('bigint', `${this.#cut(String(value))}n`);
      case 'undefined':
        return special('undefined', 'undefined');
      case 'function':
        return special('function', this.#cut(nameOf(value) || 'function'));
      case 'symbol':
        return special('symbol', this.#cut(String(value)));
      case 'object':
        break;
    }
    return value === null ? null : this.#guarded(() => this.#object(value, at, parents));
  }

  #guarded(view: () => StateView): StateView {
    try {
      return view();
    } catch (error) {
      return special('unreadable', this.#cut(textOf(error)));
    }
  }

  #text(value: string): StateView {
    const { text } = this.#limits;
    const shownLength = Math.max(0, Math.min(text, this.#room));
    this.#room -= Math.min(value.length, shownLength);
    if (value.length <= shownLength) return this.#clean(value);
    return { $: 'string', text: this.#clean(value.slice(0, shownLength)), size: value.length };
  }

  #cut(text: string): string {
    return this.#clean(text.slice(0, this.#limits.text));
  }

  #object(value: object, at: string, parents: Parents): StateView {
    const ancestor = parents.find((parent) => parent.value === value);
    if (ancestor !== undefined) return special('cycle', ancestor.at);
    if (parents.length >= this.#limits.depth) return special('deep', Array.isArray(value) ? '[…]' : '{…}');
    const path = [...parents, { value, at }];
    if (Array.isArray(value)) return this.#list(value, value.length, at, path);
    if (value instanceof Map) {
      return { $: 'map', text: `Map(${value.size})`, value: this.#list(value.entries(), value.size, at, path) };
    }
    if (value instanceof Set) {
      return { $: 'set', text: `Set(${value.size})`, value: this.#list(value.values(), value.size, at, path) };
    }
    if (value instanceof Date)
      return special('date', Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString());
    if (ArrayBuffer.isView(value)) return special('class', `${className(value)}(${value.byteLength} bytes)`);
    const prototype: unknown = Object.getPrototypeOf(value);
    const plain = this.#keys(value, at, path);
    if (prototype === Object.prototype || prototype === null) return plain;
    const text = value instanceof Error ? `${className(value)}: ${textOf(value)}` : className(value);
    return { $: 'class', text: this.#cut(text), value: plain };
  }

  #list(items: Iterable<unknown>, length: number, at: string, path: Parents): readonly StateView[] {
    const views: StateView[] = [];
    for (const item of items) {
      if (views.length >= this.#limits.items || this.#room <= 0) break;
      views.push(this.view(item, `${at}[${views.length}]`, path));
    }
    return views.length < length ? [...views, special('more', `${length - views.length} more`)] : views;
  }

  #keys(value: object, at: string, path: Parents): StateObject {
    const keys = Object.keys(value);
    const entries: [string, StateView][] = [];
    for (const key of keys) {
      if (entries.length >= this.#limits.items || this.#room <= 0) break;
      this.#room -= key.length;
      entries.push([
        key.startsWith('$') ? `$${key}` : key,
        this.#guarded(() => this.view(Reflect.get(value, key), `${at}.${key}`, path)),
      ]);
    }
    if (entries.length < keys.length) entries.push(['$more', special('more', `${keys.length - entries.length} more`)]);
    return Object.fromEntries(entries);
  }
}

function special($: SpecialKind, text: string): Special {
  return { $, text };
}

function className(value: object): string {
  const constructor: unknown = Reflect.get(value, 'constructor');
  return (typeof constructor === 'function' && nameOf(constructor)) || 'Object';
}

// A class may have a static member of that name with any value.
function nameOf(value: object): string {
  const name: unknown = Reflect.get(value, 'name');
  return typeof name === 'string' ? name : '';
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without text';
  }
}

/** The value that a view shows; `UNRECORDED` if the view does not have all of it. */
export function plainOf(view: StateView): unknown {
  if (typeof view !== 'object' || view === null) return view;
  if (isSpecial(view)) return UNRECORDED;
  const entries = isList(view) ? [...view.entries()] : Object.entries(view);
  const values = entries.map(([key, inner]) => [key, plainOf(inner)] as const);
  if (values.some(([key, inner]) => inner === UNRECORDED || key === '$more')) return UNRECORDED;
  if (isList(view)) return values.map(([, inner]) => inner);
  return Object.fromEntries(values.map(([key, inner]) => [String(key).replace(/^\$\$/, '$'), inner]));
}

export function isList(view: StateView): view is readonly StateView[] {
  return Array.isArray(view);
}
