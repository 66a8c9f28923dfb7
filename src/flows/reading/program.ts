import { createDraft } from './drafts.ts';
import type { Evaluator } from './evaluator.ts';
import { boundMethod, libraryOf } from './members.ts';
import type { Module } from './modules.ts';
import { NEXT } from './scope.ts';
import { type ClassValue, type Instance, UNDEFINED, union } from './values.ts';

/**
 * Follows a file as a whole: its top, then functions that nothing there calls, flow classes that nothing there constructs,
 * and methods that nothing there calls. So a flow is found wherever it is made.
 */
export function followFile(module: Module, evaluator: Evaluator): void {
  module.follow();
  const isHere = (scope: { readonly file: unknown }): boolean => scope.file === module.file;
  const { functions, classes, followed, instances } = evaluator.findings;
  const maybe = (work: () => void): void => {
    const branch = (): number => {
      work();
      return NEXT;
    };
    evaluator.branches.fork([branch, () => NEXT], union, UNDEFINED);
  };
  for (let index = 0; index < functions.length; index += 1) {
    const called = functions[index];
    if (called !== undefined && isHere(called.scope) && !followed.has(called.node)) {
      maybe(() => evaluator.follow(called));
    }
  }
  for (const value of [...classes.values()].filter(({ scope }) => isHere(scope))) {
    const isConstructed = instances.some((instance) => isOrExtends(instance.class, value));
    if (libraryOf(value) === 'Flow' && !isConstructed) maybe(() => constructUnseen(value, evaluator));
  }
  for (const value of [...classes.values()].filter(({ scope }) => isHere(scope))) {
    followMethods(value, evaluator, maybe);
  }
}

function isOrExtends(value: Instance['class'] | ClassValue['parent'], base: ClassValue): boolean {
  return value === base || (value?.type === 'class' && isOrExtends(value.parent, base));
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

function followMethods(value: ClassValue, evaluator: Evaluator, maybe: (work: () => void) => void): void {
  const { followed, instances } = evaluator.findings;
  const instance = instances.find((one) => isOrExtends(one.class, value));
  for (const member of value.node.body.body) {
    if ((member.type !== 'ClassMethod' && member.type !== 'ClassPrivateMethod') || followed.has(member)) continue;
    if (member.kind === 'constructor' || member.static) continue;
    const method =
      instance === undefined
        ? ({ type: 'function', node: member, scope: value.scope, name: '' } as const)
        : boundMethod({ node: member, home: value }, instance);
    maybe(() => evaluator.follow(method));
  }
}
