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
 * TypeScript with enums, namespaces, parameter properties and assertions as in `<T>x` rewritten, so that what is left of its syntax can be removed. Every
 * line stays where it was. Text that does not parse, and other syntax that is more than types, is returned as it is: Node.js
 * then says what is wrong with it.
 */
export function toErasable(text: string): string {
  let program: t.Program;
  try {
    ({ program } = parse(text, {
      sourceType: 'unambiguous',
      allowReturnOutsideFunction: true,
      createParenthesizedExpressions: true, // or their parentheses would belong to nothing
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
