import type * as t from '@babel/types';
import type { TextEdit } from '../graph/graph.ts';
import { given, visitNodes } from '../syntax/nodes.ts';
import { startOf } from '../syntax/sourceFile.ts';
import type { Instance } from '../interpreter/values.ts';
import { refuse, type SourceMap } from './sourceMap.ts';

const LIBRARY = 'farwharf/agents';
const CLASS_NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

// Names that a variable of a module cannot have (ECMAScript 2025, 12.7.2).
const RESERVED = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally ' +
    'for function if implements import in instanceof interface let new null package private protected public return static super ' +
    'switch this throw true try typeof undefined var void while with yield'
  ).split(' '),
);

/** An unused variable name for an instance of the class: `Review` becomes `review`. */
export function freeVariable(map: SourceMap, className: string): string {
  const usedNames = new Set<string>();
  visitNodes(map.program, (node) => {
    if (node.type === 'Identifier') usedNames.add(node.name);
  });
  if (!CLASS_NAME.test(className))
    refuse(`"${className}" is not a valid class name. Use letters and digits, as in ReviewDraft.`);
  if (usedNames.has(className)) refuse(`The file already uses the name ${className}. Choose another.`);
  const lowerCamel = className.replace(/^\p{Lu}+(?=\p{Lu}\p{Ll})|^\p{Lu}+/u, (capitals) => capitals.toLowerCase());
  const stem = lowerCamel === className || RESERVED.has(lowerCamel) ? `${lowerCamel}Node` : lowerCamel;
  let name = stem;
  for (let number = 2; usedNames.has(name); number += 1) name = `${stem}${number}`;
  return name;
}

/** The lines of a class for a new node. */
export function classLines(map: SourceMap, className: string, base: string, shared = 'unknown'): string[] {
  const { step, quote, semicolon: end } = map;
  const body = (signature: string, statement: string): string[] => [
    `${step}${signature} {`,
    `${step}${step}${statement}${end}`,
    `${step}}`,
  ];
  if (!map.isTyped) {
    return [
      `class ${className} extends ${base} {`,
      ...body('prep(shared)', 'return shared'),
      ...body('exec(input)', 'return input'),
      `${step}post(shared, input, result) {}`,
      '}',
    ];
  }
  return [
    `class ${className} extends ${base}<${shared}, string, string> {`,
    ...body(`override prep(_shared: ${shared}): string`, `return ${quote}${quote}`),
    ...body('override exec(input: string): string', 'return input'),
    `${step}override post(_shared: ${shared}, _input: string, _result: string): void {}`,
    '}',
  ];
}

/** The name of a class of the library in the file, with the edit that imports it if necessary. */
export function libraryClass(
  map: SourceMap,
  baseClass: 'Node' | 'Flow',
): { readonly name: string; readonly edits: readonly TextEdit[] } {
  for (const statement of map.program.body) {
    if (statement.type !== 'ImportDeclaration' || statement.source.value !== LIBRARY) continue;
    if (statement.importKind === 'type') continue;
    for (const specifier of statement.specifiers) {
      if (specifier.type === 'ImportNamespaceSpecifier')
        return { name: `${specifier.local.name}.${baseClass}`, edits: [] };
      const imported = specifier.type === 'ImportSpecifier' ? specifier.imported : undefined;
      if (imported?.type === 'Identifier' && imported.name === baseClass)
        return { name: specifier.local.name, edits: [] };
    }
    const first = statement.specifiers.find(({ type }) => type === 'ImportSpecifier');
    if (first !== undefined)
      return { name: baseClass, edits: [map.replace(startOf(first), startOf(first), `${baseClass}, `)] };
  }
  const [first] = map.program.body;
  if (first === undefined) return refuse('The file is empty.');
  const line = `import { ${baseClass} } from ${map.quoted(LIBRARY)}${map.semicolon}`;
  return { name: baseClass, edits: [map.insertAbove(first, [line])] };
}

/** The type of the shared state, from the flow or one of its nodes. */
export function sharedType({ source }: SourceMap, instances: readonly Instance[]): string | undefined {
  for (const { creation, class: called, file } of instances) {
    const ofCreation =
      creation.type === 'NewExpression' && file === source ? firstArgument(creation.typeArguments) : undefined;
    if (ofCreation !== undefined) return source.textOf(ofCreation);
    if (called.type !== 'class' || called.scope.file !== source) continue;
    const ofClass = firstArgument(called.node.superTypeArguments);
    if (ofClass !== undefined) return source.textOf(ofClass);
  }
  return undefined;
}

function firstArgument(types: { readonly params: readonly t.Node[] } | null | undefined): t.Node | undefined {
  return given(types) ? types.params[0] : undefined;
}
