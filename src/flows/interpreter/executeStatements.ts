import type * as t from '@babel/types';
import { given, isFunctionDeclaration, nodeRule, type Rules } from '../syntax/nodes.ts';
import type { AbstractInterpreter } from './abstractInterpreter.ts';
import { BREAK, type CompletionType, createCell, createScope, LEAVE, NEXT } from './scopes.ts';
import {
  alternatives,
  type FunctionValue,
  literal,
  type Scope,
  truth,
  UNDEFINED,
  unknown,
  type Value,
} from './values.ts';

// The most turns of a loop that are evaluated; nobody writes longer loops to connect nodes.
const MAX_TURNS = 10_000;

/** Statements that only name values. */
const DECLARATIONS: Rules<[interpreter: AbstractInterpreter, scope: Scope], CompletionType> = {
  VariableDeclaration(node, interpreter, scope) {
    declareVariables(interpreter, node, scope);
    return NEXT;
  },
  ClassDeclaration(node, interpreter, scope) {
    const value = interpreter.evaluate(node, scope);
    if (given(node.id)) scope.cells.set(node.id.name, createCell(value));
    return NEXT;
  },
  TSEnumDeclaration(node, _interpreter, scope) {
    scope.cells.set(node.id.name, createCell(enumValue(node, scope)));
    return NEXT;
  },
  ExportDefaultDeclaration({ declaration }, interpreter, scope) {
    const value = interpreter.evaluate(declaration, scope);
    const name = 'id' in declaration && declaration.id?.type === 'Identifier' ? declaration.id.name : undefined;
    scope.cells.set('default', createCell(value));
    if (name !== undefined) scope.cells.set(name, createCell(value));
    return NEXT;
  },
};

/** Evaluates statements in order, as far as control can reach. */
export function executeStatements(
  interpreter: AbstractInterpreter,
  statements: readonly t.Statement[],
  scope: Scope,
): CompletionType {
  for (const statement of statements) hoist(interpreter, statement, scope);
  let breaks = 0;
  for (const statement of statements) {
    interpreter.step();
    const completion = executeStatement(interpreter, statement, scope);
    breaks |= completion & BREAK;
    if ((completion & NEXT) === 0) return breaks;
  }
  return NEXT | breaks;
}

const RULES: Rules<[interpreter: AbstractInterpreter, scope: Scope], CompletionType> = {
  ...DECLARATIONS,
  ExpressionStatement(node, interpreter, scope) {
    interpreter.evaluate(node.expression, scope);
    return NEXT;
  },
  ExportNamedDeclaration({ declaration }, interpreter, scope) {
    return given(declaration) ? executeStatement(interpreter, declaration, scope) : NEXT;
  },
  BlockStatement: (node, interpreter, scope) =>
    interpreter.execute(node.body, createScope({ file: scope.file, parent: scope })),
  LabeledStatement: (node, interpreter, scope) => executeStatement(interpreter, node.body, scope),
  ReturnStatement(node, interpreter, scope) {
    interpreter.addReturn(given(node.argument) ? interpreter.evaluate(node.argument, scope) : UNDEFINED, node, scope);
    return LEAVE;
  },
  ThrowStatement(node, interpreter, scope) {
    interpreter.evaluate(node.argument, scope);
    return LEAVE;
  },
  BreakStatement: () => BREAK,
  ContinueStatement: () => BREAK,
  IfStatement({ test, consequent, alternate }, interpreter, scope) {
    const isTrue = truth(interpreter.evaluateGuarded(test, scope));
    const then = (): CompletionType => executeStatement(interpreter, consequent, scope);
    const otherwise = (): CompletionType =>
      !given(alternate) ? NEXT : executeStatement(interpreter, alternate, scope);
    if (isTrue === true) return then();
    if (isTrue === false) return otherwise();
    return interpreter.branches.fork([then, otherwise]);
  },
  /** Any case may be the first; from there control falls through the following cases. */
  SwitchStatement({ discriminant, cases }, interpreter, outer) {
    interpreter.evaluateGuarded(discriminant, outer);
    const scope = createScope({ file: outer.file, parent: outer });
    const entries = cases.map((_, first) => (): CompletionType => {
      let completion: CompletionType = NEXT;
      for (const { test, consequent } of cases.slice(first)) {
        if (given(test)) interpreter.evaluate(test, scope);
        completion = executeStatements(interpreter, consequent, scope);
        if ((completion & NEXT) === 0) break;
      }
      return completion === LEAVE ? LEAVE : NEXT;
    });
    const hasDefault = cases.some(({ test }) => !given(test));
    return interpreter.branches.fork(hasDefault ? entries : [...entries, skip]);
  },
  TryStatement({ block, handler, finalizer }, interpreter, scope) {
    const attempt = (): CompletionType => executeStatement(interpreter, block, scope);
    const rescue = (): CompletionType => {
      if (!given(handler)) return LEAVE;
      const inner = createScope({ file: scope.file, parent: scope });
      const { param } = handler;
      if (given(param)) interpreter.bind(param, unknown(scope.file, param, 'is the caught error'), inner, true);
      return interpreter.execute(handler.body.body, inner);
    };
    const completion = !given(handler) ? attempt() : interpreter.branches.fork([attempt, rescue]);
    const end = !given(finalizer) ? NEXT : executeStatement(interpreter, finalizer, scope);
    return end === LEAVE ? LEAVE : completion;
  },
  ForOfStatement: executeForEach,
  ForInStatement: executeForEach,
  ForStatement: executeLoop,
  WhileStatement: executeLoop,
  DoWhileStatement: executeLoop,
};

function executeStatement(interpreter: AbstractInterpreter, node: t.Statement, scope: Scope): CompletionType {
  return nodeRule(RULES, node)?.(node, interpreter, scope) ?? NEXT;
}

const skip = (): CompletionType => NEXT;

function executeForEach(
  { type, left, right, body }: t.ForOfStatement | t.ForInStatement,
  interpreter: AbstractInterpreter,
  scope: Scope,
): CompletionType {
  const iterated = interpreter.evaluate(right, scope);
  const turn = (value: Value): CompletionType => {
    const inner = createScope({ file: scope.file, parent: scope });
    if (left.type === 'VariableDeclaration') {
      const [declared] = left.declarations;
      if (declared !== undefined) interpreter.bind(declared.id, value, inner, true);
    } else interpreter.bind(left, value, inner, false);
    return executeStatement(interpreter, body, inner);
  };
  const items = type === 'ForOfStatement' ? itemsOf(iterated) : keysOf(interpreter, iterated);
  if (items !== undefined) {
    for (const item of items) {
      interpreter.step();
      if (turn(item) === LEAVE) return LEAVE;
    }
    return NEXT;
  }
  const item: Value = iterated.type === 'shared' ? iterated : unknown(scope.file, right);
  interpreter.branches.fork([() => turn(item), skip]);
  return NEXT;
}

/** The items of a completely known array. */
function itemsOf(value: Value): readonly Value[] | undefined {
  const [only, ...others] = alternatives(value);
  return only?.type === 'array' && !only.isOpen && others.length === 0 ? only.items : undefined;
}

function keysOf(interpreter: AbstractInterpreter, value: Value): readonly Value[] | undefined {
  const size = value.type === 'object' ? value.fields.size : value.type === 'array' ? value.items.length : 0;
  interpreter.limit.spend('value', size);
  if (value.type === 'object' && !value.isOpen) return [...value.fields.keys()].map((key) => literal(key));
  return value.type === 'array' && !value.isOpen ? value.items.map((_, index) => literal(String(index))) : undefined;
}

/** A loop with a known test is evaluated turn by turn; of any other loop the body is evaluated once, as a branch. */
function executeLoop(
  node: t.ForStatement | t.WhileStatement | t.DoWhileStatement,
  interpreter: AbstractInterpreter,
  outer: Scope,
): CompletionType {
  const scope = createScope({ file: outer.file, parent: outer });
  if (node.type === 'ForStatement' && given(node.init)) {
    if (node.init.type === 'VariableDeclaration') declareVariables(interpreter, node.init, scope);
    else interpreter.evaluate(node.init, scope);
  }
  const test = (): boolean | undefined => {
    if (!given(node.test)) return true;
    return truth(interpreter.evaluate(node.test, scope));
  };
  const turn = (): CompletionType => {
    const completion = executeStatement(interpreter, node.body, createScope({ file: scope.file, parent: scope }));
    if (node.type === 'ForStatement' && given(node.update) && completion !== LEAVE)
      interpreter.evaluate(node.update, scope);
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
    interpreter.step();
    const completion = turn();
    if (completion === LEAVE) return LEAVE;
  }
  interpreter.branches.fork([turn, skip]);
  return NEXT;
}

/** Declares a function before the statements of its block run, as JavaScript does. */
function hoist(interpreter: AbstractInterpreter, statement: t.Statement, scope: Scope): void {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (!isFunctionDeclaration(declaration) || !given(declaration.id)) return;
  const { name } = declaration.id;
  const value: FunctionValue = { type: 'function', node: declaration, scope, name };
  interpreter.findings.functions.push(value);
  scope.cells.set(name, createCell(value));
}

function declareVariables(interpreter: AbstractInterpreter, node: t.VariableDeclaration, scope: Scope): void {
  for (const { id, init } of node.declarations) {
    if (node.declare === true || id.type === 'VoidPattern') continue;
    interpreter.bind(id, !given(init) ? UNDEFINED : interpreter.evaluate(init, scope), scope, true);
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
