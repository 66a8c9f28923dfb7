import type * as t from '@babel/types';
import { visitNodes } from './nodes.ts';

/** Nodes of TypeScript that values can be in; all others are types. */
const VALUES: ReadonlySet<string> = new Set<t.Node['type']>([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
  'TSEnumDeclaration',
  'TSEnumBody',
  'TSEnumMember',
  'TSModuleDeclaration',
  'TSModuleBlock',
  'TSParameterProperty',
  'TSExportAssignment',
  'TSImportEqualsDeclaration',
  'TSQualifiedName',
]);

export type ImportedName = t.ImportDeclaration['specifiers'][number];

/** An import of names that do not all say that they are types. */
export interface ValueImport {
  readonly statement: t.ImportDeclaration;
  /** The names that do not say that they are types, and of which the file uses no value. */
  readonly unused: readonly ImportedName[];
  /** Those of them that it uses as types. */
  readonly types: readonly ImportedName[];
  /** Whether the file uses a value of any of its names. */
  readonly isUsed: boolean;
}

/** The imports of names that a program has. One that names nothing is for its effects, and is not among them. */
export function valueImports(program: t.Program): readonly ValueImport[] {
  const used = usedNames(program);
  return program.body.flatMap((statement) => {
    if (statement.type !== 'ImportDeclaration' || statement.importKind === 'type') return [];
    const { specifiers } = statement;
    if (specifiers.length === 0) return [];
    const values = specifiers.filter((each) => each.type !== 'ImportSpecifier' || each.importKind !== 'type');
    const unused = values.filter((each) => !used.values.has(each.local.name));
    const types = unused.filter((each) => used.types.has(each.local.name));
    return [{ statement, unused, types, isUsed: unused.length < values.length }];
  });
}

/** The names that a program uses as values, and perhaps some that it does not, and those that it uses in types. */
function usedNames(program: t.Program): Readonly<Record<'values' | 'types', ReadonlySet<string>>> {
  const names = { values: new Set<string>(), types: new Set<string>() };
  const types = new Set<t.Node>();
  const imports = new Set<t.Node>();
  visitNodes(program, (node, parent) => {
    if (node.type === 'ImportDeclaration' || (parent !== undefined && imports.has(parent))) imports.add(node);
    const isType = node.type.startsWith('TS') && !VALUES.has(node.type);
    if (isType || (parent !== undefined && types.has(parent))) types.add(node);
    if (node.type !== 'Identifier' || imports.has(node) || isKey(node, parent)) return;
    (types.has(node) ? names.types : names.values).add(node.name);
  });
  return names;
}

/** Whether an identifier only names a member. */
function isKey(node: t.Identifier, parent: t.Node | undefined): boolean {
  if (parent?.type === 'MemberExpression' || parent?.type === 'OptionalMemberExpression')
    return parent.property === node && !parent.computed;
  const isMember =
    parent?.type === 'ObjectProperty' ||
    parent?.type === 'ObjectMethod' ||
    parent?.type === 'ClassProperty' ||
    parent?.type === 'ClassMethod';
  return isMember && parent.key === node && !parent.computed && !('shorthand' in parent && parent.shorthand);
}
