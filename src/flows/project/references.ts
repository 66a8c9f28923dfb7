import type * as t from '@babel/types';
import { keyName, visitNodes } from '../syntax/nodes.ts';

/** The names that a piece of code refers to. */
export interface References {
  /** Names that may refer to the module's; a local name of the same spelling counts too. */
  readonly names: ReadonlySet<string>;
  /** Members of `this`. */
  readonly members: ReadonlySet<string>;
  /** Modules that are loaded in the code: `import('./x.ts')`, `require('./x')`. */
  readonly modules: ReadonlySet<string>;
}

/** Everything that a node names, without types, which do not exist at run time. */
export function referencesIn(root: t.Node): References {
  const [names, members, modules] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const types = new Set<t.Node>();
  visitNodes(root, (node, parent) => {
    // Nodes arrive after their parents, so a type is known before what is in it.
    if (parent !== undefined && (types.has(parent) || isType(node))) {
      types.add(node);
      return;
    }
    if (node.type === 'Identifier' || node.type === 'JSXIdentifier') {
      if (!isPropertyName(node, parent)) names.add(node.name);
    } else if (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression') {
      const name = node.object.type === 'ThisExpression' ? keyName(node.property, node.computed) : undefined;
      if (name !== undefined) members.add(name);
    } else if (node.type === 'CallExpression') {
      const [argument] = node.arguments;
      const isLoad =
        node.callee.type === 'Import' || (node.callee.type === 'Identifier' && node.callee.name === 'require');
      if (isLoad && argument?.type === 'StringLiteral') modules.add(argument.value);
    }
  });
  return { names, members, modules };
}

/** Syntax of TypeScript that is removed before the code runs; expressions with types are not. */
function isType({ type }: t.Node): boolean {
  return type.startsWith('TS') && !/^TS(?:\w+Expression|TypeAssertion|Enum\w*|Module\w*|ParameterProperty)$/.test(type);
}

function isPropertyName(node: t.Node, parent: t.Node | undefined): boolean {
  if (parent === undefined) return false;
  if (parent.type === 'MemberExpression' || parent.type === 'OptionalMemberExpression') {
    return parent.property === node && !parent.computed;
  }
  if (!('key' in parent) || !('computed' in parent) || parent.key !== node) return false;
  const isShorthand = 'shorthand' in parent && parent.shorthand;
  return !(parent.computed ?? false) && !isShorthand;
}
