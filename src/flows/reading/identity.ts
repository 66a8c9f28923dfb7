import { relative, dirname, sep } from 'node:path';
import { optionOf } from './hooks.ts';
import { libraryOf } from '../interpreter/members.ts';
import { pathOf } from '../interpreter/values/scope.ts';
import type { Instance } from '../interpreter/values/values.ts';

/** Gives each instance an id of its own: the name that the source has for it, with `~2` for the second of that name. */
export function identify(instances: Iterable<Instance>, name: (instance: Instance) => string): Map<Instance, string> {
  const ids = new Map<Instance, string>();
  const free = new FreeIds();
  for (const instance of instances) ids.set(instance, free.take(name(instance)));
  return ids;
}

/** Gives ids out once each: a second `a` is `a~2`. */
export class FreeIds {
  readonly #taken = new Set<string>();
  readonly #last = new Map<string, number>();

  take(wanted: string): string {
    let id = wanted;
    let number = this.#last.get(wanted) ?? 1;
    while (this.#taken.has(id)) {
      number += 1;
      id = `${wanted}~${number}`;
    }
    this.#last.set(wanted, number); // a loop gives thousands the same name: none of them counts from 2 again
    this.#taken.add(id);
    return id;
  }
}

// A list that a loop links has thousands of owners; names say where the last of them are.
const MAX_OWNERS = 20;

/** What the source calls a node of a flow: the variable or property path, `new Work` for one made in place. */
export function nodeName(instance: Instance, flow: Instance | undefined, depth = 0): string {
  const { name } = instance;
  if (name === undefined) return `new ${instance.class.name}`;
  if (name.owner === undefined || name.owner === flow || depth === MAX_OWNERS) return name.text;
  return `${nodeName(name.owner, flow, depth + 1)}.${name.text}`;
}

/** What the source calls a flow, as seen from a file. */
export function flowName(instance: Instance, from: string): string {
  const local = localName(instance);
  const { path } = instance.file;
  if (path === from) return local;
  const way = relative(dirname(from), path).split(sep).join('/');
  return `${way.startsWith('.') ? way : `./${way}`}#${local}`;
}

function localName({ name, scope, class: called }: Instance, depth = 0): string {
  if (name !== undefined) {
    const isWhole = name.owner === undefined || depth === MAX_OWNERS;
    return isWhole ? name.text : `${localName(name.owner, depth + 1)}.${name.text}`;
  }
  return pathOf(scope) || called.name;
}

/** The name that the runtime gives a unit; `isKnown` is false where the option is there and its text is not known. */
export function runtimeName(instance: Instance): { readonly text: string; readonly isKnown: boolean } {
  const option = optionOf(instance, 'name');
  if (option?.type === 'literal') return { text: String(option.value), isKnown: true };
  const text = instance.class.name || (libraryOf(instance.class) ?? 'Node');
  return { text, isKnown: option === undefined || option.type === 'undefined' };
}

/** What trace events call the nodes of a flow: their names, with `~2` for the second of a name. */
export function labelsOf(stations: Iterable<Instance>): Map<Instance, string> {
  const counts = new Map<string, number>();
  const labels = new Map<Instance, string>();
  for (const station of stations) {
    const { text } = runtimeName(station);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    labels.set(station, count === 1 ? text : `${text}~${count}`);
  }
  return labels;
}
