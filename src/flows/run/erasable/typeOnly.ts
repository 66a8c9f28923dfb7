import type * as t from '@babel/types';

const TYPES: ReadonlySet<t.Node['type']> = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
  'EmptyStatement',
] as const);

/** Whether a statement contains only types, so that nothing is left of it when they are removed. */
export function isTypeOnly(node: t.Node): boolean {
  if (TYPES.has(node.type) || ('declare' in node && node.declare === true)) return true;
  if (node.type === 'ExportNamedDeclaration') return node.exportKind === 'type' || isDeclarationOfTypes(node);
  return node.type === 'TSModuleDeclaration' && (node.kind === 'global' || node.body.body.every(isTypeOnly));
}

function isDeclarationOfTypes({ declaration }: t.ExportNamedDeclaration): boolean {
  return declaration !== null && declaration !== undefined && isTypeOnly(declaration);
}
