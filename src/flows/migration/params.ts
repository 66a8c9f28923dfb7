import type * as t from '@babel/types';
import { visitNodes } from '../syntax/nodes.ts';
import { indentOf, lineBreakOf, stepOf } from '../syntax/sourceStyle.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import { type Edit, insertion } from '../syntax/edits.ts';
import type { LibraryNames } from './libraryNames.ts';
import { isParams, methodOf, type ParamsPlan } from './paramsPlan.ts';

const ANY_PARAMS = 'Record<string, any>';

/** The edits that pass params in the state of batch flows: `{ shared, params }`. */
export function paramsEdits(file: SourceFile, names: LibraryNames, { nodes, flows }: ParamsPlan): readonly Edit[] {
  return [
    ...[...nodes].flatMap((name) => nodeEdits(file, names, names.classNamed(name))),
    ...[...flows].flatMap((name) => flowEdits(file, names.classNamed(name))),
  ];
}

function nodeEdits(file: SourceFile, names: LibraryNames, node: t.Class | undefined): Edit[] {
  if (node === undefined) return [];
  const [state, params] = typesOf(node);
  const paramsType = textOf(file, params ?? paramsOfParents(names, node)) ?? ANY_PARAMS;
  const edits = (['prep', 'post'] as const).flatMap((name) => hookEdits(file, methodOf(node, name), paramsType));
  if (state === undefined) return edits;
  return [...edits, insertion(startOf(state), '{ shared: '), insertion(endOf(state), `; params: ${paramsType} }`)];
}

function hookEdits(file: SourceFile, hook: t.ClassMethod | undefined, paramsType: string): Edit[] {
  if (hook === undefined) return [];
  const edits: Edit[] = [];
  visitNodes(hook, (node) => {
    if (isParams(node)) edits.push({ start: startOf(node), end: endOf(node), text: 'params' });
  });
  const uses = edits.length > 0 ? ['params'] : [];
  const [first] = hook.params;
  if (first?.type === 'Identifier') {
    const { name, typeAnnotation: type } = first;
    const pattern = [name === 'shared' ? name : `shared: ${name}`, ...uses].join(', ');
    const shared = type?.type === 'TSTypeAnnotation' ? textOf(file, type.typeAnnotation) : undefined;
    const text = `{ ${pattern} }${shared === undefined ? '' : `: { shared: ${shared}; params: ${paramsType} }`}`;
    edits.push({ start: startOf(first), end: type ? endOf(type) : startOf(first) + name.length, text });
  } else if (uses.length > 0) {
    const open = file.text.indexOf('(', endOf(hook.key)) + 1;
    edits.push(insertion(open, `{ params }${isTyped(file) ? `: { params: ${paramsType} }` : ''}`));
  }
  return edits;
}

function flowEdits(file: SourceFile, flow: t.Class | undefined): Edit[] {
  if (flow === undefined) return [];
  const { text } = file;
  const [state] = typesOf(flow);
  const shared = textOf(file, state) ?? 'any';
  const params = itemOf(file, methodOf(flow, 'prep')) ?? ANY_PARAMS;
  const [indent, lineBreak, step] = [indentOf(text, startOf(flow)), lineBreakOf(text), stepOf(text)];
  const signature = isTyped(file) ? `shared: ${shared}, params: ${params}` : 'shared, params';
  const lines = [`${step}itemState(${signature}) {`, `${step}${step}return { shared, params };`, `${step}}`];
  const method = lines.map((line) => lineBreak + indent + line).join('');
  const edits = [insertion(startOf(flow.body) + 1, method)];
  if (state !== undefined) edits.push(insertion(endOf(state), `, ${params}, { shared: ${shared}; params: ${params} }`));
  return edits;
}

/** The type of an item of the array that `prep` is declared to return. */
function itemOf(file: SourceFile, prep: t.ClassMethod | undefined): string | undefined {
  if (prep?.returnType?.type !== 'TSTypeAnnotation') return undefined;
  let type: t.Node | undefined = prep.returnType.typeAnnotation;
  if (type.type === 'TSTypeReference' && textOf(file, type.typeName) === 'Promise')
    type = type.typeArguments?.params[0];
  return type?.type === 'TSArrayType' ? textOf(file, type.elementType) : undefined;
}

function paramsOfParents(names: LibraryNames, node: t.Class): t.Node | undefined {
  const { superClass } = node;
  const parent = superClass?.type === 'Identifier' ? names.classNamed(superClass.name) : undefined;
  return parent === undefined ? undefined : (typesOf(parent)[1] ?? paramsOfParents(names, parent));
}

function typesOf({ superTypeArguments: types }: t.Class): readonly t.Node[] {
  return types?.type === 'TSTypeParameterInstantiation' ? types.params : [];
}

function textOf(file: SourceFile, node: t.Node | undefined): string | undefined {
  return node && file.textOf(node);
}

function isTyped({ path }: Pick<SourceFile, 'path'>): boolean {
  return /\.[mc]?tsx?$/.test(path);
}
