import { relative, dirname, sep } from 'node:path';
import { optionOf } from './libraryKeys.ts';
import { libraryOf } from '../interpreter/members.ts';
import { functionPath } from '../interpreter/scopes.ts';
import type { Instance } from '../interpreter/values.ts';

/** Assigns each instance a unique id: its name in the source, with `~2` for the second of that name. */
export function identify(instances: Iterable<Instance>, name: (instance: Instance) => string): Map<Instance, string> {
  const ids = new Map<Instance, string>();
  const free = new FreeIds();
  for (const instance of instances) ids.set(instance, free.take(name(instance)));
  return ids;
}

/** Makes ids unique: a second `a` becomes `a~2`. */
export class FreeIds {
  readonly #taken = new Set<string>();
  readonly #last = new Map<string, number>();

  take(name: string): string {
    let id = name;
    let number = this.#last.get(name) ?? 1;
    while (this.#taken.has(id)) {
      number += 1;
      id = `${name}~${number}`;
    }
    this.#last.set(name, number); // a loop can use one name thousands of times, so counting never restarts at 2
    this.#taken.add(id);
    return id;
  }
}

// A list linked in a loop can have thousands of owners; a name contains only the last of them.
const MAX_OWNERS = 20;

/** The name of a node in the source: the variable or property path, or `new Work` for an inline node. */
export function sourceName(instance: Instance, flow: Instance | undefined, depth = 0): string {
  const { name } = instance;
  if (name === undefined) {
    const { creation, file } = instance;
    return creation.type === 'CallExpression' ? file.snippet(creation.callee) : `new ${instance.class.name}`;
  }
  if (name.owner === undefined || name.owner === flow || depth === MAX_OWNERS) return name.text;
  return `${sourceName(name.owner, flow, depth + 1)}.${name.text}`;
}

/** The name of a flow in the source, relative to a file. */
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
  return functionPath(scope) || called.name;
}

/** The name of a unit at run time; `isKnown` is false if the option is set to an unknown text. */
export function runtimeName(instance: Instance): { readonly text: string; readonly isKnown: boolean } {
  const option = optionOf(instance, 'name');
  if (option?.type === 'literal') return { text: String(option.value), isKnown: true };
  const text = instance.class.name || (libraryOf(instance.class) ?? 'Node');
  return { text, isKnown: option === undefined || option.type === 'undefined' };
}

/** The names of a flow's nodes in trace events, with `~2` for the second node of a name. */
export function labelsOf(nodes: Iterable<Instance>): Map<Instance, string> {
  const counts = new Map<string, number>();
  const labels = new Map<Instance, string>();
  for (const node of nodes) {
    const { text } = runtimeName(node);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    labels.set(node, count === 1 ? text : `${text}~${count}`);
  }
  return labels;
}
