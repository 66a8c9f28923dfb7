import type * as t from '@babel/types';
import { given, isFunctionDeclaration, ruleFor, type Rules } from '../syntax/nodes.ts';
import type { Machine } from './values/machine.ts';
import { BREAK, type Completion, createCell, createScope, LEAVE, NEXT } from './values/scope.ts';
import { truth } from './values/truth.ts';
import {
  alternatives,
  type FunctionValue,
  literal,
  type Scope,
  UNDEFINED,
  union,
  unknown,
  type Value,
} from './values/values.ts';

// A loop with a counter is followed turn by turn; nobody writes longer ones to connect nodes.
const MAX_TURNS = 10_000;

/** Follows statements one after another, as far as control gets. */
export function executeStatements(machine: Machine, statements: readonly t.Statement[], scope: Scope): Completion {
  for (const statement of statements) hoist(machine, statement, scope);
  let breaks = 0;
  for (const statement of statements) {
    machine.step();
    const completion = executeStatement(machine, statement, scope);
    breaks |= completion & BREAK;
    if ((completion & NEXT) === 0) return breaks;
  }
  return NEXT | breaks;
}

function hoist(machine: Machine, statement: t.Statement, scope: Scope): void {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (!isFunctionDeclaration(declaration) || !given(declaration.id)) return;
  const { name } = declaration.id;
  const value: FunctionValue = { type: 'function', node: declaration, scope, name };
  machine.findings.functions.push(value);
  scope.cells.set(name, createCell(value));
}

const RULES: Rules<[machine: Machine, scope: Scope], Completion> = {
  ExpressionStatement(node, machine, scope) {
    machine.evaluate(node.expression, scope);
    return NEXT;
  },
  VariableDeclaration(node, machine, scope) {
    declareVariables(machine, node, scope);
    return NEXT;
  },
  ClassDeclaration(node, machine, scope) {
    const value = machine.evaluate(node, scope);
    if (given(node.id)) scope.cells.set(node.id.name, createCell(value));
    return NEXT;
  },
  TSEnumDeclaration(node, _machine, scope) {
    scope.cells.set(node.id.name, createCell(enumValue(node, scope)));
    return NEXT;
  },
  ExportNamedDeclaration({ declaration }, machine, scope) {
    return given(declaration) ? executeStatement(machine, declaration, scope) : NEXT;
  },
  ExportDefaultDeclaration({ declaration }, machine, scope) {
    const value = machine.evaluate(declaration, scope);
    const name = 'id' in declaration && declaration.id?.type === 'Identifier' ? declaration.id.name : undefined;
    scope.cells.set('default', createCell(value));
    if (name !== undefined) scope.cells.set(name, createCell(value));
    return NEXT;
  },
  BlockStatement: (node, machine, scope) =>
    machine.execute(node.body, createScope({ file: scope.file, parent: scope })),
  LabeledStatement: (node, machine, scope) => executeStatement(machine, node.body, scope),
  ReturnStatement(node, machine, scope) {
    machine.addReturn(given(node.argument) ? machine.evaluate(node.argument, scope) : UNDEFINED, node, scope);
    return LEAVE;
  },
  ThrowStatement(node, machine, scope) {
    machine.evaluate(node.argument, scope);
    return LEAVE;
  },
  BreakStatement: () => BREAK,
  ContinueStatement: () => BREAK,
  IfStatement: (node, machine, scope) => executeIf(machine, node, scope),
  SwitchStatement: (node, machine, scope) => executeSwitch(machine, node, scope),
  TryStatement: (node, machine, scope) => executeTry(machine, node, scope),
  ForOfStatement: (node, machine, scope) => executeForEach(machine, node, scope),
  ForInStatement: (node, machine, scope) => executeForEach(machine, node, scope),
  ForStatement: (node, machine, scope) => executeLoop(machine, node, scope),
  WhileStatement: (node, machine, scope) => executeLoop(machine, node, scope),
  DoWhileStatement: (node, machine, scope) => executeLoop(machine, node, scope),
};

function executeStatement(machine: Machine, node: t.Statement, scope: Scope): Completion {
  return ruleFor(RULES, node)?.(node, machine, scope) ?? NEXT;
}

function declareVariables(machine: Machine, node: t.VariableDeclaration, scope: Scope): void {
  for (const { id, init } of node.declarations) {
    if (node.declare === true || id.type === 'VoidPattern') continue;
    machine.bind(id, !given(init) ? UNDEFINED : machine.evaluate(init, scope), scope, true);
  }
}

function enumValue(node: t.TSEnumDeclaration, { file }: Scope): Value {
  const fields = new Map<string, Value>();
  for (const member of node.body?.members ?? []) {
    const key = member.id.type === 'Identifier' ? member.id.name : member.id.value;
    const { initializer } = member;
    const isText = initializer?.type === 'StringLiteral';
    fields.set(key, isText ? literal(initializer.value, { file, node: initializer }) : unknown(file, member));
  }
  return { type: 'object', fields, isOpen: false };
}

function fork(machine: Machine, branches: readonly (() => Completion)[]): Completion {
  return machine.branches.fork(branches, union, UNDEFINED);
}

const skip = (): Completion => NEXT;

function executeIf(machine: Machine, { test, consequent, alternate }: t.IfStatement, scope: Scope): Completion {
  const isTrue = truth(machine.evaluateGuarded(test, scope));
  const then = (): Completion => executeStatement(machine, consequent, scope);
  const otherwise = (): Completion => (!given(alternate) ? NEXT : executeStatement(machine, alternate, scope));
  if (isTrue === true) return then();
  if (isTrue === false) return otherwise();
  return fork(machine, [then, otherwise]);
}

/** Every case may be the first; from there control falls through to the ends of the cases behind it. */
function executeSwitch(machine: Machine, { discriminant, cases }: t.SwitchStatement, outer: Scope): Completion {
  machine.evaluateGuarded(discriminant, outer);
  const scope = createScope({ file: outer.file, parent: outer });
  const entries = cases.map((_, first) => (): Completion => {
    let completion: Completion = NEXT;
    for (const { test, consequent } of cases.slice(first)) {
      if (given(test)) machine.evaluate(test, scope);
      completion = executeStatements(machine, consequent, scope);
      if ((completion & NEXT) === 0) break;
    }
    return completion === LEAVE ? LEAVE : NEXT;
  });
  const hasDefault = cases.some(({ test }) => !given(test));
  return fork(machine, hasDefault ? entries : [...entries, skip]);
}

function executeTry(machine: Machine, { block, handler, finalizer }: t.TryStatement, scope: Scope): Completion {
  const attempt = (): Completion => executeStatement(machine, block, scope);
  const rescue = (): Completion => {
    if (!given(handler)) return LEAVE;
    const inner = createScope({ file: scope.file, parent: scope });
    const { param } = handler;
    if (given(param)) machine.bind(param, unknown(scope.file, param, 'is what was thrown'), inner, true);
    return machine.execute(handler.body.body, inner);
  };
  const completion = !given(handler) ? attempt() : fork(machine, [attempt, rescue]);
  const end = !given(finalizer) ? NEXT : executeStatement(machine, finalizer, scope);
  return end === LEAVE ? LEAVE : completion;
}

function executeForEach(
  machine: Machine,
  { type, left, right, body }: t.ForOfStatement | t.ForInStatement,
  scope: Scope,
): Completion {
  const iterated = machine.evaluate(right, scope);
  const turn = (value: Value): Completion => {
    const inner = createScope({ file: scope.file, parent: scope });
    if (left.type === 'VariableDeclaration') {
      const [declared] = left.declarations;
      if (declared !== undefined) machine.bind(declared.id, value, inner, true);
    } else machine.bind(left, value, inner, false);
    return executeStatement(machine, body, inner);
  };
  const items = type === 'ForOfStatement' ? itemsOf(iterated) : keysOf(machine, iterated);
  if (items !== undefined) {
    for (const item of items) {
      machine.step();
      if (turn(item) === LEAVE) return LEAVE;
    }
    return NEXT;
  }
  const item: Value = iterated.type === 'shared' ? iterated : unknown(scope.file, right);
  fork(machine, [() => turn(item), skip]);
  return NEXT;
}

/** The items of an array that is known as a whole. */
function itemsOf(value: Value): readonly Value[] | undefined {
  const [only, ...others] = alternatives(value);
  return only?.type === 'array' && !only.isOpen && others.length === 0 ? only.items : undefined;
}

function keysOf(machine: Machine, value: Value): readonly Value[] | undefined {
  const size = value.type === 'object' ? value.fields.size : value.type === 'array' ? value.items.length : 0;
  machine.budget.spend('value', size);
  if (value.type === 'object' && !value.isOpen) return [...value.fields.keys()].map((key) => literal(key));
  return value.type === 'array' && !value.isOpen ? value.items.map((_, index) => literal(String(index))) : undefined;
}

/** A loop whose test is known is followed turn by turn; of any other the body is followed once, as something that may happen. */
function executeLoop(
  machine: Machine,
  node: t.ForStatement | t.WhileStatement | t.DoWhileStatement,
  outer: Scope,
): Completion {
  const scope = createScope({ file: outer.file, parent: outer });
  if (node.type === 'ForStatement' && given(node.init)) {
    if (node.init.type === 'VariableDeclaration') declareVariables(machine, node.init, scope);
    else machine.evaluate(node.init, scope);
  }
  const test = (): boolean | undefined => {
    if (!given(node.test)) return true;
    return truth(machine.evaluate(node.test, scope));
  };
  const turn = (): Completion => {
    const completion = executeStatement(machine, node.body, createScope({ file: scope.file, parent: scope }));
    if (node.type === 'ForStatement' && given(node.update) && completion !== LEAVE)
      machine.evaluate(node.update, scope);
    return completion;
  };
  const isEndless = !given(node.test) || (node.test.type === 'BooleanLiteral' && node.test.value);
  if (isEndless || node.type === 'DoWhileStatement') {
    const completion = turn();
    if (isEndless) return completion & BREAK ? NEXT : LEAVE;
    return completion === LEAVE ? LEAVE : NEXT;
  }
  for (let turns = 0; turns < MAX_TURNS; turns += 1) {
    const isTrue = test();
    if (isTrue === false) return NEXT;
    if (isTrue === undefined) break;
    machine.step();
    const completion = turn();
    if (completion === LEAVE) return LEAVE;
  }
  fork(machine, [turn, skip]);
  return NEXT;
}
