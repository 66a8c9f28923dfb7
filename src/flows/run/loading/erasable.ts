import { parse } from '@babel/parser';
import type * as t from '@babel/types';
import { type Rules, nodeRule, visitNodes } from '../../syntax/nodes.ts';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import { lowerStatements } from './erasedStatements.ts';
import { TextEdits } from '../../syntax/edits.ts';

const REWRITES: Rules<[edits: TextEdits], void> = {
  Program: ({ body }, edits) => lowerStatements(body, undefined, edits),
  BlockStatement: ({ body }, edits) => lowerStatements(body, undefined, edits),
  StaticBlock: ({ body }, edits) => lowerStatements(body, undefined, edits),
  ClassDeclaration: lowerParameterProperties,
  ClassExpression: lowerParameterProperties,
  TSTypeAssertion: (node, edits) => {
    edits.replace(startOf(node), startOf(node.expression), '(');
    edits.insert(endOf(node), ')');
  },
};

/**
 * Rewrites enums, namespaces, parameter properties and assertions as in `<T>x`, so that only type syntax is left to remove.
 * Every line stays where it was. Text that does not parse, and other syntax that cannot be removed, is returned unchanged:
 * Node.js then reports the problem.
 */
export function toErasable(text: string): string {
  let program: t.Program;
  try {
    ({ program } = parse(text, {
      sourceType: 'unambiguous',
      allowReturnOutsideFunction: true,
      createParenthesizedExpressions: true, // otherwise their parentheses would belong to no node
      attachComment: false,
      locations: false,
      plugins: ['typescript', 'decorators'],
    }));
  } catch {
    return text;
  }
  const edits = new TextEdits(text);
  visitNodes(program, (node) => nodeRule(REWRITES, node)?.(node, edits));
  return edits.apply();
}

/** Rewrites `constructor(private x: T)` as a parameter and an assignment, after `super()` if there is one. */
function lowerParameterProperties(owner: t.Class, edits: TextEdits): void {
  for (const member of owner.body.body) {
    if (member.type !== 'ClassMethod' || member.kind !== 'constructor') continue;
    const properties = member.params.filter((parameter) => parameter.type === 'TSParameterProperty');
    if (properties.length === 0) continue;
    const hasSuper = owner.superClass !== null && owner.superClass !== undefined;
    const at = hasSuper ? afterSuper(member.body) : bodyStart(member.body);
    if (at === undefined) continue; // unchanged, so that Node.js rejects it
    for (const { parameter, ...property } of properties) {
      edits.replace(property.start ?? 0, startOf(parameter), '');
    }
    const names = properties.map(({ parameter }) =>
      parameter.type === 'Identifier' ? parameter.name : nameOfPattern(parameter),
    );
    edits.insert(at, names.map((name) => ` this.${name} = ${name};`).join(''));
  }
}

function nameOfPattern({ left }: t.AssignmentPattern): string {
  return left.type === 'Identifier' ? left.name : '';
}

function bodyStart(body: t.BlockStatement): number {
  const lastDirective = body.directives?.at(-1);
  return lastDirective === undefined ? startOf(body) + 1 : endOf(lastDirective);
}

function afterSuper(body: t.BlockStatement): number | undefined {
  const call = body.body.find(
    (statement) =>
      statement.type === 'ExpressionStatement' &&
      statement.expression.type === 'CallExpression' &&
      statement.expression.callee.type === 'Super',
  );
  return call && endOf(call);
}
