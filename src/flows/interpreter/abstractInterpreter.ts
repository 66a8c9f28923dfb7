import type * as t from '@babel/types';
import type { ReadingLimit } from './readingLimit.ts';
import type { Branches, CompletionType } from './scopes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
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

/** The results of reading a file, other than values. */
export interface Findings {
  readonly instances: Instance[];
  readonly functions: FunctionValue[];
  readonly classes: Map<t.Node, ClassValue>;
  readonly models: Map<t.Node, { readonly origin: Origin; readonly options: Value }>;
  /** Constructs that hide a part of a flow, by position. */
  readonly unread: Map<t.Node, { readonly origin: Origin; readonly reason: string }>;
  /** Functions whose bodies were evaluated. */
  readonly followed: Set<FunctionNode>;
}

export interface Return {
  readonly value: Value;
  readonly origin: Origin;
  /** The keys that the current hook has certainly written by then. */
  readonly written: readonly string[];
}

export interface Invocation {
  /** Collects the uses of the shared state, if the call is a hook. */
  readonly use?: SharedUse | undefined;
}

/** Evaluates code without running it. Each kind of syntax has its own file; they call each other through this interface. */
export interface AbstractInterpreter {
  readonly branches: Branches;
  readonly findings: Findings;
  readonly limit: ReadingLimit;
  evaluate(node: t.Node, scope: Scope): Value;
  /** Evaluates an expression that may be missing: its reads of the shared state count as guarded. */
  evaluateGuarded(node: t.Node, scope: Scope): Value;
  execute(statements: readonly t.Statement[], scope: Scope): CompletionType;
  /** Binds a pattern to new names of the scope, or (without `isNew`) to existing ones. */
  bind(pattern: t.Node, value: Value, scope: Scope, isNew: boolean): void;
  read(value: Value, key: string | undefined, node: t.Node, scope: Scope): Value;
  write(target: Value, key: string | undefined, value: Value, node: t.Node, scope: Scope): void;
  call(node: t.CallExpression | t.OptionalCallExpression, scope: Scope): Value;
  invoke(called: FunctionValue, args: readonly Value[], invocation?: Invocation): Value;
  construct(node: t.NewExpression, scope: Scope): Value;
  /** Runs the constructors of `super(...)`. */
  constructParent(home: ClassValue, instance: Instance, args: readonly Value[]): void;
  /** Evaluates a function with unknown arguments. */
  follow(called: FunctionValue): void;
  addReturn(value: Value, node: t.Node, scope: Scope): void;
  /** @throws ReadingLimitError once the code exceeds a limit. */
  step(): void;
  importModule(specifier: string, from: SourceFile): ModuleValue | undefined;
}
