import type * as t from '@babel/types';
import { visitNodes } from '../../syntax/nodes.ts';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import type { TextEdits } from './textEdits.ts';

/**
 * Rewrites an enum as the object that TypeScript compiles it to: numbers map back to their names, strings do not.
 *
 * @param head the declaration of the variable, such as `var Name; `.
 * @param target the object, such as `Name || (Name = {})`.
 */
export function lowerEnum(
  node: t.TSEnumDeclaration,
  { head, target }: { readonly head: string; readonly target: string },
  edits: TextEdits,
): void {
  const { id, body } = node;
  const add = `const $add = (name, value) => { if (typeof value === "string") ${id.name}[name] = value; else ${id.name}[${id.name}[name] = value] = name; return $last = value; };`;
  // An array of calls, because the commas can stay.
  edits.replace(startOf(node), startOf(body) + 1, `${head}(function (${id.name}) { let $last = -1; ${add} void [`);
  const names = new Set(body.members.map(nameOf));
  for (const member of body.members) {
    const { initializer } = member;
    const call = `$add(${JSON.stringify(nameOf(member))}, `;
    if (initializer === null || initializer === undefined) {
      edits.replace(startOf(member), endOf(member), `${call}$last + 1)`);
      continue;
    }
    edits.replace(startOf(member), startOf(initializer), call);
    qualify(initializer, id.name, names, edits);
    edits.insert(endOf(initializer), ')');
  }
  edits.replace(endOf(node) - 1, endOf(node), `]; })(${target});`);
}

/** Qualifies other members of the enum, which are named without it. */
function qualify(initializer: t.Expression, enumName: string, names: ReadonlySet<string>, edits: TextEdits): void {
  visitNodes(initializer, (node, parent) => {
    if (node.type !== 'Identifier' || !names.has(node.name)) return;
    const isProperty = parent?.type === 'MemberExpression' && parent.property === node && !parent.computed;
    if (!isProperty) edits.replace(startOf(node), endOf(node), `${enumName}.${node.name}`);
  });
}

function nameOf({ id }: t.TSEnumMember): string {
  return id.type === 'Identifier' ? id.name : id.value;
}
