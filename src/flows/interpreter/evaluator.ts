import type * as t from '@babel/types';
import { evaluateArguments, evaluateCall } from './calls.ts';
import { evaluateExpression } from './expressions.ts';
import { construct, constructInstance, constructParent } from './instances.ts';
import type { Findings, Invocation, AbstractInterpreter, Return } from './abstractInterpreter.ts';
import { readMember, writeMember } from './members.ts';
import { unwrapped } from '../syntax/nodes.ts';
import { bindPattern } from './bindPattern.ts';
import { Branches, type CompletionType, createScope, LEAVE, NEXT } from './scopes.ts';
import { ReadingLimit } from './readingLimit.ts';
import { writtenKeys } from './shared.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
import { executeStatements } from './executeStatements.ts';
import {
  type ClassValue,
  type FunctionNode,
  type FunctionValue,
  type Instance,
  type ModuleValue,
  type Scope,
  type SharedUse,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from './values.ts';

const MAX_DEPTH = 40;
const MAX_RECURSION = 2;

interface Frame {
  readonly node: FunctionNode;
  readonly returns: Return[];
  readonly use: SharedUse | undefined;
}

/** Evaluates the code of files through all branches, with values as far as the source determines them. Nothing is run. */
export class Evaluator implements AbstractInterpreter {
  readonly limit: ReadingLimit;
  readonly branches: Branches;
  readonly findings: Findings = {
    instances: [],
    functions: [],
    classes: new Map(),
    models: new Map(),
    unread: new Map(),
    followed: new Set(),
  };
  readonly #load: (specifier: string, from: SourceFile) => ModuleValue | undefined;
  readonly #guarded = new WeakSet<t.Node>();
  readonly #frames: Frame[] = [];

  /** @param length the length of the file that is read, which limits the work. */
  constructor(length: number, load: (specifier: string, from: SourceFile) => ModuleValue | undefined) {
    this.#load = load;
    const limit = new ReadingLimit(length);
    this.limit = limit;
    this.branches = new Branches((cells) => limit.spend('value', cells));
  }

  step(): void {
    this.limit.spend('step');
  }

  evaluate(node: t.Node, scope: Scope): Value {
    this.step();
    return evaluateExpression(this, node, scope);
  }

  evaluateGuarded(node: t.Node, scope: Scope): Value {
    this.#guard(node);
    return this.evaluate(node, scope);
  }

  execute(statements: readonly t.Statement[], scope: Scope): CompletionType {
    return executeStatements(this, statements, scope);
  }

  bind(pattern: t.Node, value: Value, scope: Scope, isNew: boolean): void {
    bindPattern(this, pattern, value, scope, isNew);
  }

  read(value: Value, key: string | undefined, node: t.Node, scope: Scope): Value {
    return readMember(this, value, key, node, { scope, isGuarded: this.#guarded.has(node) });
  }

  write(target: Value, key: string | undefined, value: Value, node: t.Node, scope: Scope): void {
    writeMember(this, target, key, value, node, scope);
  }

  call(node: t.CallExpression | t.OptionalCallExpression, scope: Scope): Value {
    return evaluateCall(this, node, scope);
  }

  construct(node: t.NewExpression, scope: Scope): Value {
    return constructInstance(this, node, evaluateArguments(this, node.arguments, scope), scope);
  }

  constructClass(called: ClassValue, instance: Instance): void {
    construct(this, called, instance, []);
  }

  constructParent(home: ClassValue, instance: Instance, args: readonly Value[]): void {
    constructParent(this, home, instance, args);
  }

  invoke(called: FunctionValue, args: readonly Value[], invocation: Invocation = {}): Value {
    const { returns, completion } = this.trace(called, args, invocation);
    const values = returns.map(({ value }) => value);
    return union((completion & NEXT) === 0 && values.length > 0 ? values : [...values, UNDEFINED]);
  }

  /** Evaluates a call and returns its possible results; control may reach the end if `completion` has NEXT. */
  trace(
    { node, scope: outer, name }: FunctionValue,
    args: readonly Value[],
    { use }: Invocation = {},
  ): { readonly returns: readonly Return[]; readonly completion: CompletionType } {
    this.findings.followed.add(node);
    const frame: Frame = { node, returns: [], use: use ?? this.#frames.at(-1)?.use };
    const isRecursive = this.#frames.filter((other) => other.node === node).length >= MAX_RECURSION;
    if (isRecursive || this.#frames.length >= MAX_DEPTH || node.generator) {
      this.#frames.push(frame);
      this.addReturn(unknown(outer.file, node, 'is too complex to follow'), node, outer);
      this.#frames.pop();
      return { returns: frame.returns, completion: LEAVE };
    }
    this.#frames.push(frame);
    try {
      const label = name === '' ? undefined : name;
      const scope = createScope({ file: outer.file, parent: outer, name: label, depth: this.#frames.length });
      this.#bindParameters(node, args, scope);
      const { body } = node;
      if (body.type === 'BlockStatement') {
        return { returns: frame.returns, completion: this.execute(body.body, scope) };
      }
      this.addReturn(this.evaluate(body, scope), body, scope);
      return { returns: frame.returns, completion: LEAVE };
    } finally {
      this.#frames.pop();
    }
  }

  follow(called: FunctionValue): void {
    const { params } = called.node;
    const why = 'is a parameter, whose value only the caller knows';
    this.invoke(
      called,
      params.map((param) => unknown(called.scope.file, param, why)),
    );
  }

  addReturn(value: Value, node: t.Node, { file }: Scope): void {
    const frame = this.#frames.at(-1);
    const use = frame?.use;
    this.limit.spend('value', use?.written.size ?? 0);
    const keys = use === undefined ? [] : writtenKeys(this, use);
    frame?.returns.push({ value, origin: { file, node }, written: keys });
  }

  importModule(specifier: string, from: SourceFile): ModuleValue | undefined {
    return this.#load(specifier, from);
  }

  #bindParameters({ params }: FunctionNode, args: readonly Value[], scope: Scope): void {
    for (const [index, param] of params.entries()) {
      if (param.type === 'VoidPattern') continue;
      const rest: Value = { type: 'array', items: args.slice(index), isOpen: false };
      this.bind(param, param.type === 'RestElement' ? rest : (args[index] ?? UNDEFINED), scope, true);
    }
  }

  /** Marks the parts of a condition as guarded. */
  #guard(outer: t.Node): void {
    const node = unwrapped(outer);
    this.#guarded.add(node);
    if (node.type === 'LogicalExpression') {
      this.#guard(node.left);
      this.#guard(node.right);
    }
    if (node.type === 'UnaryExpression') this.#guard(node.argument);
  }
}
