import { parse } from '@babel/parser';
import { type Node, traverseFast } from '@babel/types';

/** One change of a source that its tests should notice. */
export interface Mutant {
  readonly path: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
};

/** Returns all mutants of a source. Texts and types stay as they are, since no behaviour depends on the wording of a text. */
export function findMutants(path: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  const add = (node: Node, replacement: string): void => {
    const { start, end, loc } = node;
    if (typeof start !== 'number' || typeof end !== 'number' || !loc || source.slice(start, end) === replacement)
      return;
    mutants.push({ path, line: loc.start.line, start, end, replacement });
  };
  const textOf = ({ start, end }: Node): string => source.slice(start ?? 0, end ?? 0);

  traverseFast(parse(source, { sourceType: 'module', plugins: ['typescript'] }), (node) => {
    if (isWithoutBehaviour(node)) return traverseFast.skip;
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression' || node.type === 'AssignmentExpression') {
      const operator = OPERATORS[node.operator];
      const isJoin = node.operator.startsWith('+') && [node.left, node.right].some(isTextual);
      if (operator === undefined || isJoin) return undefined;
      const changed = `${textOf(node.left)} ${operator} ${textOf(node.right)}`;
      // In parentheses, because `??` may not stand beside `&&` without.
      add(node, node.type === 'AssignmentExpression' ? changed : `(${changed})`);
    } else if (node.type === 'IfStatement' || node.type === 'ConditionalExpression') {
      add(node.test, 'true');
      add(node.test, 'false');
    } else if (node.type === 'WhileStatement') add(node.test, 'false');
    else if (node.type === 'UnaryExpression') {
      if (node.operator === '!' || node.operator === '-') add(node, textOf(node.argument));
    } else if (node.type === 'UpdateExpression') {
      add(
        node,
        textOf(node).replace(/\+\+|--/, (operator) => (operator === '++' ? '--' : '++')),
      );
    } else if (node.type === 'BooleanLiteral') add(node, String(!node.value));
    else if (node.type === 'NumericLiteral') add(node, node.value === 0 ? '1' : `(${textOf(node)} + 1)`);
    else if (node.type === 'ExpressionStatement' && !textOf(node).startsWith('super')) add(node, ';');
    return undefined;
  });
  return mutants;
}

function isWithoutBehaviour({ type }: Node): boolean {
  const hasValue = type === 'TSAsExpression' || type === 'TSSatisfiesExpression' || type === 'TSNonNullExpression';
  return type === 'ImportDeclaration' || (type.startsWith('TS') && !hasValue);
}

function isTextual({ type }: Node): boolean {
  return type === 'StringLiteral' || type === 'TemplateLiteral';
}
