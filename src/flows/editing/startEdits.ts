import type * as t from '@babel/types';
import type { TextEdit } from '../graph/graph.ts';
import { findMethod } from '../interpreter/members.ts';
import { endOf, startOf } from '../syntax/sourceFile.ts';
import { type EditContext, referenceTo } from './connectionEdits.ts';
import { refuse } from './sourceMap.ts';

/** Sets the start of the flow to `text`. `madeAt` is where the node is created, which must come first. */
export function writeStart(context: EditContext, text: string, madeAt: number): TextEdit {
  const { map, flow } = context;
  const { flow: draft, creation, class: called, file } = flow.instance;
  const origin = draft.startOrigin;
  if ((origin?.file ?? file) !== map.source)
    refuse(`The start of the flow is set in ${(origin?.file ?? file).path}. Edit it there.`);
  const parent = origin === undefined ? undefined : map.parentOf(origin.node);
  if (origin !== undefined && parent?.type === 'AssignmentExpression') return map.replaceNode(parent.right, text);
  const isLate = madeAt > startOf(creation);
  if (origin !== undefined && origin.node !== creation && !isLate) {
    const isShorthand = parent?.type === 'ObjectProperty' && parent.shorthand;
    return map.replaceNode(origin.node, isShorthand ? `start: ${text}` : text);
  }
  const takesOptions = creation.type === 'NewExpression' && findMethod(called, 'constructor') === undefined;
  if (origin === undefined && takesOptions && !isLate) return insertOption(context, creation, text);
  return assignStart(context, text, madeAt);
}

function insertOption({ map }: EditContext, creation: t.NewExpression, text: string): TextEdit {
  const [options] = creation.arguments;
  if (options === undefined) {
    const end = endOf(creation);
    const hasParentheses = map.source.text[end - 1] === ')';
    return hasParentheses
      ? map.replace(end - 1, end - 1, `{ start: ${text} }`)
      : map.replace(end, end, `({ start: ${text} })`);
  }
  if (options.type !== 'ObjectExpression') {
    return refuse(
      `The options of the flow are not written where it is created. Set the start in \`${map.source.snippet(options)}\`.`,
    );
  }
  const [first] = options.properties;
  if (first === undefined) return map.replaceNode(options, `{ start: ${text} }`);
  const gap = map.source.text.slice(startOf(options) + 1, startOf(first));
  return map.replace(startOf(first), startOf(first), `start: ${text},${gap.includes('\n') ? gap : ' '}`);
}

function assignStart({ map, flow }: EditContext, text: string, madeAt: number): TextEdit {
  const { instance, nodes } = flow;
  const late = [...nodes.values()].find((node) => startOf(node.creation) === madeAt);
  const last = late !== undefined && madeAt > startOf(instance.creation) ? late : instance;
  const receiver = referenceTo(instance, last.scope);
  return map.insertBelow(map.statementOf(last.creation), [`${receiver}.start = ${text}${map.semicolon}`]);
}

/** Removes the start; no edits if none is set. */
export function removeStart({ map, flow }: EditContext): TextEdit[] {
  const { flow: draft, creation } = flow.instance;
  const origin = draft.startOrigin;
  if (origin === undefined) return [];
  const parent = origin.file === map.source ? map.parentOf(origin.node) : undefined;
  if (parent?.type === 'AssignmentExpression') return [map.removeStatement(map.statementOf(parent))];
  const options = parent === undefined ? undefined : map.parentOf(parent);
  if (origin.node === creation || parent?.type !== 'ObjectProperty' || options?.type !== 'ObjectExpression') {
    return refuse('The start of the flow cannot be removed here. Remove it in the source.');
  }
  return [removeFromList(map, options.properties, parent, options)];
}

/** Removes one item with its comma from a list in brackets. */
export function removeFromList(
  map: EditContext['map'],
  items: readonly (t.Node | null)[],
  item: t.Node,
  list: t.Node,
): TextEdit {
  const all = items.filter((one) => one !== null);
  const index = all.indexOf(item);
  const next = all[index + 1];
  const before = all[index - 1];
  if (next !== undefined) return map.replace(startOf(item), startOf(next), '');
  if (before !== undefined) return map.replace(endOf(before), endOf(item), '');
  return map.replace(startOf(list) + 1, endOf(list) - 1, '');
}
