import type { FlowFile, ModelUse, TextEdit, Unread } from '../graph/graph.ts';
import { ReadingLimitError } from '../interpreter/readingLimit.ts';
import {
  type ClassValue,
  type FunctionNode,
  type FunctionValue,
  type Instance,
  type Origin,
  UNDEFINED,
  type Value,
} from '../interpreter/values.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import { GraphBuilder, type ReadFlow } from './graphBuilder.ts';
import { type FindFile, type Module, Modules } from './modules.ts';
import { createDraft } from '../interpreter/drafts.ts';
import type { Evaluator } from '../interpreter/evaluator.ts';
import { boundMethod, libraryOf } from '../interpreter/members.ts';
import { isFlowClass } from '../interpreter/library.ts';

// A file without any of these makes no flow and is not evaluated.
const MAY_MAKE_FLOWS = /farwharf\/agents|\bconnect\s*\(|\bFlow\b|\.start\s*=|\.run\s*\(/;

// A function without any of these creates no flow or model client and connects nothing.
const MAKES_SOMETHING = /\bnew\b|\bconnect\b|\bstart\b/;

/** The result of reading one file, with what edits need. */
export interface FlowReading {
  readonly result: FlowFile;
  readonly source: SourceFile;
  readonly flows: readonly ReadFlow[];
}

/** The edits that make a change, or why it cannot be made safely. */
export type EditResult =
  | { readonly ok: true; readonly edits: readonly TextEdit[] }
  | { readonly ok: false; readonly reason: string };

/** Reads the flows of a parsed file without running it; `find` supplies the files that it imports. */
export function readSource(source: SourceFile, find: FindFile): FlowReading {
  const modules = new Modules(source, find);
  const { evaluator } = modules;
  const build = (): ReadFlow[] => new GraphBuilder(evaluator).build(source.path);
  let flows: readonly ReadFlow[] = [];
  if (MAY_MAKE_FLOWS.test(source.text)) {
    try {
      evaluator.limit.spend('letter', source.text.length);
      followFile(modules.load(source), evaluator);
      flows = build();
    } catch (error) {
      // Only generated code nests expressions thousands of levels deep. The flows found before them are shown.
      if (!(error instanceof RangeError) && !(error instanceof ReadingLimitError)) throw error;
      evaluator.limit.exceed('level');
      flows = buildWithin(build);
    }
  }
  const { unread, models } = evaluator.findings;
  const hidden: Unread[] = [...unread.values()]
    .filter(({ origin }) => origin.file === source)
    .map(({ origin, reason }) => ({ reason, range: origin.file.range(origin.node) }));
  const { problem } = evaluator.limit;
  if (problem !== undefined) hidden.push({ reason: problem, range: source.rangeOf(0, 0) });
  const result: FlowFile = {
    file: source.path,
    flows: flows.map(({ graph }) => graph),
    unread: hidden,
    models: [...models.values()].filter(({ origin }) => origin.file === source).map(modelUse),
    syntaxError: source.syntaxError,
    isStale: false,
    dependencies: modules.files.filter((path) => path !== source.path),
  };
  return { result, source, flows };
}

function buildWithin(build: () => ReadFlow[]): readonly ReadFlow[] {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [];
  }
}

function modelUse({ origin, options }: { readonly origin: Origin; readonly options: Value }): ModelUse {
  const field = (name: string): ModelUse['model'] => {
    const value = options.type === 'object' ? options.fields.get(name) : undefined;
    if (value?.type !== 'literal' || typeof value.value !== 'string') return undefined;
    const { file, node } = value.origin ?? origin;
    return { value: value.value, range: file.range(node) };
  };
  const baseUrl = options.type === 'object' ? options.fields.get('baseUrl') : undefined;
  const isOpen = options.type === 'object' ? options.isOpen : options.type !== 'undefined';
  return {
    range: origin.file.range(origin.node),
    provider: field('provider'),
    model: field('model'),
    hasBaseUrl: isOpen || (baseUrl !== undefined && baseUrl.type !== 'undefined'),
  };
}

/**
 * Evaluates a whole file: its top level, then the functions and methods that nothing in it calls and the flow classes that
 * nothing in it constructs. So a flow is found wherever it is created.
 */
function followFile(module: Module, evaluator: Evaluator): void {
  module.follow();
  const { functions, classes, followed } = evaluator.findings;
  const matters = (node: FunctionNode): boolean => {
    if (followed.has(node)) return false;
    evaluator.limit.spend('scan', endOf(node) - startOf(node));
    return MAKES_SOMETHING.test(module.file.textOf(node));
  };
  // The list grows during the loop: an evaluated function may define others.
  for (const called of functions) {
    if (called.scope.file === module.file && matters(called.node))
      evaluator.branches.maybe(() => evaluator.follow(called));
  }
  const fileClasses = [...classes.values()].filter(({ scope }) => scope.file === module.file);
  const constructed = instancesByClass(evaluator);
  for (const value of fileClasses) {
    if (isFlowClass(libraryOf(value)) && !constructed.has(value))
      evaluator.branches.maybe(() => constructUnseen(value, evaluator));
  }
  const instances = instancesByClass(evaluator);
  for (const value of fileClasses) {
    for (const method of methodsOf(value, instances.get(value))) {
      if (matters(method.node)) evaluator.branches.maybe(() => evaluator.follow(method));
    }
  }
}

/** One instance of each class that has instances, including those of derived classes. */
function instancesByClass({ findings }: Evaluator): ReadonlyMap<Value, Instance> {
  const byClass = new Map<Value, Instance>();
  for (const instance of findings.instances) {
    for (let at: Value | undefined = instance.class; at?.type === 'class'; at = at.parent) {
      if (byClass.has(at)) break;
      byClass.set(at, instance);
    }
  }
  return byClass;
}

function constructUnseen(value: ClassValue, evaluator: Evaluator): void {
  const instance: Instance = {
    type: 'instance',
    class: value,
    file: value.scope.file,
    creation: value.node,
    scope: value.scope,
    fields: new Map(),
    options: UNDEFINED,
    name: { text: value.name, owner: undefined, depth: 0 },
    references: [],
    flow: createDraft(),
  };
  evaluator.findings.instances.push(instance);
  evaluator.constructClass(value, instance);
}

function methodsOf(value: ClassValue, instance: Instance | undefined): FunctionValue[] {
  return value.node.body.body.flatMap((member): FunctionValue[] => {
    if (member.type !== 'ClassMethod' && member.type !== 'ClassPrivateMethod') return [];
    if (member.kind === 'constructor' || member.static) return [];
    if (instance === undefined) return [{ type: 'function', node: member, scope: value.scope, name: '' }];
    return [boundMethod({ node: member, home: value }, instance)];
  });
}
