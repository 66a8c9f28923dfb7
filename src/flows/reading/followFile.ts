import { createDraft } from '../interpreter/drafts.ts';
import type { Evaluator } from '../interpreter/evaluator.ts';
import { boundMethod, libraryOf } from '../interpreter/members.ts';
import type { Module } from './modules.ts';
import { endOf, startOf } from '../syntax/sourceFile.ts';
import { isFlowClass } from '../interpreter/library.ts';
import {
  type ClassValue,
  type FunctionNode,
  type FunctionValue,
  type Instance,
  UNDEFINED,
  type Value,
} from '../interpreter/values.ts';

// A function without any of these creates no flow or model client and connects nothing.
const MAKES_SOMETHING = /\bnew\b|\bconnect\b|\bstart\b/;

/**
 * Evaluates a whole file: its top level, then the functions and methods that nothing in it calls and the flow classes that
 * nothing in it constructs. So a flow is found wherever it is created.
 */
export function followFile(module: Module, evaluator: Evaluator): void {
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
