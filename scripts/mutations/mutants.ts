import { parse } from '@babel/parser';
import { type Node, VISITOR_KEYS } from '@babel/types';
import { replacementsOf } from './operators.ts';

/** One change of a source that its tests should notice. */
export interface Mutant {
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Returns all mutants of a source. Types, imports and what is cast with `as` stay as they are, as in Stryker. */
export function findMutants(path: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const visit = (node: Node, parent: Node | undefined): void => {
    if (isWithoutBehaviour(node)) return;
    const { start, end, loc } = node;
    const { length } = mutants;
    const add = (replacement: string): void => {
      if (typeof start !== 'number' || typeof end !== 'number' || !loc) return;
      mutants.push({ path, line: loc.start.line, start, end, replacement });
    };
    for (const replacement of replacementsOf(node, parent, source)) add(replacement);
    for (const child of childrenOf(node)) visit(child, node);
    // Like Stryker, which leaves out a statement only if nothing within it can be changed.
    if (isRemovable(node) && mutants.length === length) add(';');
  };
  visit(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program, undefined);
  return mutants;
}

function childrenOf(node: Node): Node[] {
  const values: ReadonlyMap<string, unknown> = new Map(Object.entries(node));
  return (VISITOR_KEYS[node.type] ?? []).flatMap((key) => [values.get(key)].flat()).filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function isRemovable(node: Node): boolean {
  if (node.type === 'ThrowStatement') return node.argument.type === 'NewExpression';
  if (node.type !== 'ExpressionStatement' || node.expression.type !== 'CallExpression') return false;
  return node.expression.callee.type !== 'Super';
}

function isWithoutBehaviour({ type }: Node): boolean {
  const hasValue = type === 'TSSatisfiesExpression' || type === 'TSNonNullExpression';
  return type === 'ImportDeclaration' || (type.startsWith('TS') && !hasValue);
}
