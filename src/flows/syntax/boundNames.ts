import type * as t from '@babel/types';
import { given, type Rules, ruleFor } from './nodes.ts';

const NAMES: Rules<[], string[]> = {
  VariableDeclaration: ({ declarations }) => declarations.flatMap(({ id }) => boundNames(id)),
  FunctionDeclaration: ({ id }) => optionalName(id),
  ClassDeclaration: ({ id }) => optionalName(id),
  TSEnumDeclaration: ({ id }) => [id.name],
  Identifier: ({ name }) => [name],
  ObjectPattern: ({ properties }) =>
    properties.flatMap((property) => boundNames(property.type === 'RestElement' ? property.argument : property.value)),
  ArrayPattern: ({ elements }) => elements.flatMap((element) => (element === null ? [] : boundNames(element))),
  AssignmentPattern: ({ left }) => boundNames(left),
  RestElement: ({ argument }) => boundNames(argument),
};

/** The names that a declaration or pattern defines; none for other nodes. */
export function boundNames(node: t.Node): string[] {
  return ruleFor(NAMES, node)?.(node) ?? [];
}

function optionalName(id: t.Identifier | null | undefined): string[] {
  return given(id) ? [id.name] : [];
}
