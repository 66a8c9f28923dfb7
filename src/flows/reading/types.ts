import type * as t from '@babel/types';
import { DEFAULT_ACTION } from '../interpreter/values/drafts.ts';
import { ruleFor, type Rules } from '../syntax/nodes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
import type { Origin } from '../interpreter/values/values.ts';

interface TypedAction {
  readonly action: string;
  readonly origin: Origin;
}

const MAX_ALIASES = 20;

type Result = readonly TypedAction[] | undefined;
type Arguments = [file: SourceFile, depth: number];

const nothing = (node: t.Node, file: SourceFile): Result => [{ action: DEFAULT_ACTION, origin: { file, node } }];

const RULES: Rules<Arguments, Result> = {
  TSTypeAnnotation: ({ typeAnnotation }, file, depth) => actionsOfType(typeAnnotation, file, depth),
  TSParenthesizedType: ({ typeAnnotation }, file, depth) => actionsOfType(typeAnnotation, file, depth),
  TSVoidKeyword: nothing,
  TSUndefinedKeyword: nothing,
  TSNullKeyword: nothing,
  TSNeverKeyword: () => [],
  TSLiteralType({ literal }, file) {
    if (literal.type !== 'StringLiteral') return undefined;
    return [{ action: literal.value || DEFAULT_ACTION, origin: { file, node: literal } }];
  },
  TSUnionType({ types }, file, depth) {
    const parts = types.map((part) => actionsOfType(part, file, depth));
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  },
  TSTypeReference({ typeName, typeArguments }, file, depth) {
    if (typeName.type !== 'Identifier' || depth > MAX_ALIASES) return undefined;
    const [argument] = typeArguments?.params ?? [];
    if (typeName.name === 'Promise' && argument !== undefined) return actionsOfType(argument, file, depth);
    const alias = aliasOf(typeName.name, file);
    return alias === undefined ? undefined : actionsOfType(alias, file, depth + 1);
  },
};

/** The actions that a type allows: a union of literals; undefined if it allows any text or is declared elsewhere. */
export function actionsOfType(type: t.Node, file: SourceFile, depth = 0): Result {
  return ruleFor(RULES, type)?.(type, file, depth);
}

function aliasOf(name: string, { program }: SourceFile): t.Node | undefined {
  for (const statement of program?.body ?? []) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type === 'TSTypeAliasDeclaration' && declared.id.name === name) return declared.typeAnnotation;
  }
  return undefined;
}
