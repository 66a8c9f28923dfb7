import { pathToFileURL } from 'node:url';
import { graphNodes } from '../../../agents/graph/unit.ts';
import { AppError } from '../../../core/errors.ts';

/** A unit that can be run: a flow, or a node that was requested by name. */
export interface Runnable {
  readonly name: string;
  run(shared: unknown): Promise<unknown>;
}

/** Functions with these names may create a flow; no other function is called unless requested. */
const MAKER_NAME = /flow|^(?:default|create|build|make)/i;

type Exports = Readonly<Record<string, unknown>>;

/**
 * The flow that a module exports: an instance, a class with a constructor without arguments, or a function that returns one.
 *
 * The library may be loaded more than once, so a flow is recognized by its members and not by its class.
 *
 * @param exportName the name of the export.
 * @throws AppError `bad-input` that says what to export or choose.
 */
export async function findExportedFlow(
  exports: Readonly<Record<string, unknown>>,
  exportName: string | undefined,
  file: string,
): Promise<Runnable> {
  if (exportName !== undefined) return findByName(exports, exportName, file);
  const instance = onlyOne(distinct(matching(exports, isFlow)), file);
  if (instance !== undefined) return instance;
  const Class = onlyOne(matching(exports, isFlowClass), file);
  if (Class !== undefined) return new Class();
  const makers = matching(exports, isMaker).filter(([name]) => MAKER_NAME.test(name));
  const flow = await onlyOne(makers, file)?.();
  if (isFlow(flow)) return flow;
  throw new AppError(
    'bad-input',
    `${file} exports no flow${namesOf(exports)}. Export the flow: export const flow = new Flow(...).`,
  );
}

async function findByName(exports: Readonly<Record<string, unknown>>, name: string, file: string): Promise<Runnable> {
  const value =
    exports[name] ?? Object.values(exports).find((candidate) => isRunnable(candidate) && candidate.name === name);
  if (isRunnable(value)) return value;
  if (isFlowClass(value)) return new value();
  const flow = isFunction(value) ? await value() : undefined;
  if (isRunnable(flow)) return flow;
  throw new AppError('bad-input', `${file} exports no flow "${name}"${namesOf(exports)}.`);
}

type Export<T> = readonly [name: string, value: T];

function matching<T>(
  exports: Readonly<Record<string, unknown>>,
  isMatch: (value: unknown) => value is T,
): readonly Export<T>[] {
  return Object.entries(exports).flatMap(([name, value]) => (isMatch(value) ? [[name, value] as const] : []));
}

/** The default export wins over others. */
function onlyOne<T>(candidates: readonly Export<T>[], file: string): T | undefined {
  const candidate = candidates.find(([name]) => name === 'default') ?? candidates[0];
  if (candidates.length <= 1 || candidate?.[0] === 'default') return candidate?.[1];
  const names = candidates.map(([name]) => name).join(', ');
  throw new AppError(
    'bad-input',
    `${file} exports several flows: ${names}. Choose one by its name (--flow ${candidate?.[0]}).`,
  );
}

/** One flow under two names is one flow. */
function distinct<T>(entries: readonly Export<T>[]): readonly Export<T>[] {
  const seen = new Set<unknown>();
  return entries
    .toSorted(([a], [b]) => Number(b === 'default') - Number(a === 'default'))
    .filter(([, value]) => !seen.has(value) && seen.add(value));
}

function namesOf(exports: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(exports);
  return names.length === 0 ? '' : ` (its exports: ${names.join(', ')})`;
}

const HOOKS = ['run', 'prep', 'exec', 'post'] as const;

function isRunnable(value: unknown): value is Runnable {
  return typeof value === 'object' && value !== null && HOOKS.every((name) => hasMethod(value, name));
}

function isFlow(value: unknown): value is Runnable {
  return isRunnable(value) && graphNodes in value;
}

function isFlowClass(value: unknown): value is new () => Runnable {
  if (typeof value !== 'function' || value.length > 0) return false;
  const prototype: unknown = value.prototype;
  return isFlow(prototype);
}

function isMaker(value: unknown): value is () => unknown {
  return isFunction(value) && value.length === 0 && !/^\s*class\b/.test(String(value));
}

function isFunction(value: unknown): value is () => unknown {
  return typeof value === 'function';
}

function hasMethod(value: object, name: string): boolean {
  return typeof Reflect.get(value, name) === 'function';
}

/** Imports a flow file and returns its exports, whose values may still change. */
export async function importedFile(file: string): Promise<Exports> {
  const exports: unknown = await import(pathToFileURL(file).href);
  return isExports(exports) ? exports : {};
}

function isExports(value: unknown): value is Exports {
  return typeof value === 'object' && value !== null;
}
