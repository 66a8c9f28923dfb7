import { parse } from '@babel/parser';
import type * as t from '@babel/types';
import { type Rules, ruleFor, visitNodes } from '../../syntax/nodes.ts';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import { lowerParameterProperties } from './parameterProperties.ts';
import { lowerStatements } from './statements.ts';
import { TextEdits } from './textEdits.ts';

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
  visitNodes(program, (node) => ruleFor(REWRITES, node)?.(node, edits));
  return edits.apply();
}
