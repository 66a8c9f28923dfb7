import { parse } from '@babel/parser';
import type * as t from '@babel/types';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import { TextEdits } from '../../syntax/edits.ts';
import { visitNodes } from '../../syntax/nodes.ts';

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

/**
 * Leaves out the imported names of which a file uses no value, as TypeScript and other runners do: Node.js imports each name that does not
 * say `type`, and interfaces do not exist when it runs. Every line stays where it was. Text that does not parse is returned unchanged.
 */
export function withoutTypeImports(text: string): string {
  let program: t.Program;
  try {
    ({ program } = parse(text, {
      sourceType: 'module',
      attachComment: false,
      locations: false,
      plugins: ['typescript', 'decorators'],
    }));
  } catch {
    return text;
  }
  const used = usedValues(program);
  const edits = new TextEdits(text);
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration' || statement.importKind === 'type') continue;
    const values = statement.specifiers.filter((each) => !isType(each));
    const unused = values.filter((each) => !used.has(each.local.name));
    if (unused.length < values.length) for (const each of unused) leaveOut(each, text, edits);
    else if (statement.specifiers.length > 0) edits.replace(startOf(statement), endOf(statement), ';');
  }
  return edits.apply();
}

type ImportedName = t.ImportDeclaration['specifiers'][number];

function isType(specifier: ImportedName): boolean {
  return specifier.type === 'ImportSpecifier' && specifier.importKind === 'type';
}

/** Beside others, a default is followed by a comma, all names of a module follow one, and a name in braces can say what it is. */
function leaveOut(specifier: ImportedName, text: string, edits: TextEdits): void {
  const [start, end] = [startOf(specifier), endOf(specifier)];
  if (specifier.type === 'ImportSpecifier') edits.insert(start, 'type ');
  else if (specifier.type === 'ImportDefaultSpecifier') edits.replace(start, text.indexOf(',', end) + 1, '');
  else edits.replace(text.lastIndexOf(',', start), end, '');
}

/** The names that a program uses as values, and perhaps some that it does not. */
function usedValues(program: t.Program): ReadonlySet<string> {
  const used = new Set<string>();
  const types = new Set<t.Node>();
  visitNodes(program, (node, parent) => {
    if (node.type === 'ImportDeclaration' || (node.type.startsWith('TS') && !VALUES.has(node.type))) types.add(node);
    if (parent !== undefined && types.has(parent)) types.add(node);
    if (node.type === 'Identifier' && !types.has(node) && !isKey(node, parent)) used.add(node.name);
  });
  return used;
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
  return isMember && parent.key === node && !parent.computed && !('shorthand' in parent && parent.shorthand === true);
}
