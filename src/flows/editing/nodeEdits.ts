import type * as t from '@babel/types';
import type { TextEdit } from '../graph/graph.ts';
import { visitNodes } from '../syntax/nodes.ts';
import { startOf } from '../syntax/sourceFile.ts';
import type { Instance } from '../interpreter/values.ts';
import { type EditContext, edgeOf, instanceOf, removeConnection } from './connectionEdits.ts';
import type { SourceMap } from './sourceMap.ts';
import { removeFromList, removeStart } from './startEdits.ts';

/** Removes a node from the flow: its connections, the start if it is this node, and its variable if nothing else uses it. */
export function deleteNode(context: EditContext, id: string): TextEdit[] {
  const { map, flow } = context;
  const node = instanceOf(context, id);
  const touching = flow.graph.edges.filter(({ source, target }) => source === id || target === id);
  const edits = touching.map((edge) => removeConnection(context, edgeOf(context, edge.id)));
  if (flow.graph.start === id) edits.push(...removeStart(context));
  // The source of a nested flow stays, because it is more than a node.
  return node.flow === undefined ? [...edits, ...removeVariable(map, node, edits)] : edits;
}

/** Removes `const node = new Work()`, also from a list of declarations, if no remaining code uses it. */
function removeVariable(map: SourceMap, { creation, file }: Instance, removed: readonly TextEdit[]): TextEdit[] {
  if (file !== map.source) return [];
  const parent = map.parentOf(creation);
  if (parent?.type === 'VariableDeclarator' && parent.id.type === 'Identifier') {
    const declaration = map.parentOf(parent);
    if (declaration?.type !== 'VariableDeclaration' || isExported(map, declaration)) return [];
    if (isUsed(map, parent.id, removed)) return [];
    if (declaration.declarations.length === 1) return [map.removeStatement(declaration)];
    return [removeFromList(map, declaration.declarations, parent, declaration)];
  }
  return parent?.type === 'ArrayExpression' ? removeDestructured(map, parent, creation, removed) : [];
}

/** `const [a, b] = [new A(), new B()]` without one of its pairs. */
function removeDestructured(
  map: SourceMap,
  list: t.ArrayExpression,
  creation: t.Node,
  removed: readonly TextEdit[],
): TextEdit[] {
  const declarator = map.parentOf(list);
  if (declarator?.type !== 'VariableDeclarator' || declarator.id.type !== 'ArrayPattern') return [];
  const declaration = map.parentOf(declarator);
  if (declaration?.type !== 'VariableDeclaration' || isExported(map, declaration)) return [];
  const { elements: names } = declarator.id;
  const index = list.elements.findIndex((element) => element === creation);
  const name = names[index];
  const isPlain = names.length === list.elements.length && names.every((one) => one?.type === 'Identifier');
  if (!isPlain || name?.type !== 'Identifier' || isUsed(map, name, removed)) return [];
  if (names.length > 1)
    return [removeFromList(map, names, name, declarator.id), removeFromList(map, list.elements, creation, list)];
  return declaration.declarations.length === 1 ? [map.removeStatement(declaration)] : [];
}

function isExported(map: SourceMap, declaration: t.Node): boolean {
  return map.parentOf(declaration)?.type === 'ExportNamedDeclaration';
}

/** Whether a name occurs anywhere outside its declaration and the removed code. */
function isUsed(map: SourceMap, declared: t.Identifier, removed: readonly TextEdit[]): boolean {
  let isFound = false;
  visitNodes(map.program, (node) => {
    if (node.type !== 'Identifier' || node.name !== declared.name || node === declared) return;
    const offset = startOf(node);
    isFound ||= !removed.some(({ range: { start, end } }) => start.offset <= offset && offset < end.offset);
  });
  return isFound;
}
