import type * as t from '@babel/types';
import type { ReadingBudget } from './readingBudget.ts';
import type { Branches, Completion } from './scope.ts';
import type { SourceFile } from '../../syntax/sourceFile.ts';
import type {
  ClassValue,
  FunctionNode,
  FunctionValue,
  Instance,
  ModuleValue,
  Origin,
  Scope,
  SharedUse,
  Value,
} from './values.ts';

/** What reading a file brings to light besides values. */
export interface Findings {
  readonly instances: Instance[];
  readonly functions: FunctionValue[];
  readonly classes: Map<t.Node, ClassValue>;
  readonly models: Map<t.Node, { readonly origin: Origin; readonly options: Value }>;
  /** What hides a part of some flow, by the place. */
  readonly unread: Map<t.Node, { readonly origin: Origin; readonly reason: string }>;
  /** Functions whose bodies were followed. */
  readonly followed: Set<FunctionNode>;
}

export interface Return {
  readonly value: Value;
  readonly origin: Origin;
  /** What the hook under way has certainly written by then. */
  readonly written: readonly string[];
}

export interface Invocation {
  /** What the call does to the shared state, where it is a hook. */
  readonly use?: SharedUse | undefined;
}

/** Follows code without running it. One part for each kind of syntax, which call each other through this. */
export interface AbstractInterpreter {
  readonly branches: Branches;
  readonly findings: Findings;
  readonly budget: ReadingBudget;
  evaluate(node: t.Node, scope: Scope): Value;
  /** Evaluates where nothing being there is expected: a read of the shared state is then guarded. */
  evaluateGuarded(node: t.Node, scope: Scope): Value;
  execute(statements: readonly t.Statement[], scope: Scope): Completion;
  /** Binds a pattern: as new names of the scope, or (without `isNew`) to what exists. */
  bind(pattern: t.Node, value: Value, scope: Scope, isNew: boolean): void;
  read(value: Value, key: string | undefined, node: t.Node, scope: Scope): Value;
  write(target: Value, key: string | undefined, value: Value, node: t.Node, scope: Scope): void;
  call(node: t.CallExpression | t.OptionalCallExpression, scope: Scope): Value;
  invoke(called: FunctionValue, args: readonly Value[], invocation?: Invocation): Value;
  construct(node: t.NewExpression, scope: Scope): Value;
  /** Runs the constructors of `super(...)`. */
  constructParent(home: ClassValue, instance: Instance, args: readonly Value[]): void;
  /** Follows a function that somebody unknown calls, or nobody. */
  follow(called: FunctionValue): void;
  addReturn(value: Value, node: t.Node, scope: Scope): void;
  /** @throws ReadingLimitError once the code is too much to follow. */
  step(): void;
  importModule(specifier: string, from: SourceFile): ModuleValue | undefined;
}
