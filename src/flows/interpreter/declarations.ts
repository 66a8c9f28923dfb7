import type * as t from '@babel/types';
import { given, isFunctionDeclaration, type Rules } from '../syntax/nodes.ts';
import type { AbstractInterpreter } from './values/abstractInterpreter.ts';
import { type Completion, createCell, NEXT } from './values/scope.ts';
import { type FunctionValue, literal, type Scope, UNDEFINED, unknown, type Value } from './values/values.ts';

/** Statements that only name values. */
export const DECLARATIONS: Rules<[interpreter: AbstractInterpreter, scope: Scope], Completion> = {
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

/** Declares a function before the statements of its block run, as JavaScript does. */
export function hoist(interpreter: AbstractInterpreter, statement: t.Statement, scope: Scope): void {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  if (!isFunctionDeclaration(declaration) || !given(declaration.id)) return;
  const { name } = declaration.id;
  const value: FunctionValue = { type: 'function', node: declaration, scope, name };
  interpreter.findings.functions.push(value);
  scope.cells.set(name, createCell(value));
}

export function declareVariables(interpreter: AbstractInterpreter, node: t.VariableDeclaration, scope: Scope): void {
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
