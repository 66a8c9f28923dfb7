// The mutators of StrykerJS 10 (https://stryker-mutator.io/docs/mutation-testing-elements/supported-mutators), except those of
// regular expressions, which need a parser of patterns. Stryker changes no number.
import type { Node } from '@babel/types';

const BINARY: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['!='],
  '!=': ['=='],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
};
const ASSIGNMENTS: Readonly<Record<string, string>> = {
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '/=': '*=',
  '%=': '*=',
  '<<=': '>>=',
  '>>=': '<<=',
  '&=': '|=',
  '|=': '&=',
  '&&=': '||=',
  '||=': '&&=',
  '??=': '&&=',
};
const REMOVED_CALLS = ['charAt', 'filter', 'reverse', 'slice', 'sort', 'substr', 'substring', 'trim'];
const SWAPPED_CALLS = [
  ['endsWith', 'startsWith'],
  ['every', 'some'],
  ['toLocaleLowerCase', 'toLocaleUpperCase'],
  ['toLowerCase', 'toUpperCase'],
  ['trimEnd', 'trimStart'],
  ['min', 'max'],
  ['setFullYear', 'setMonth'],
  ['setHours', 'setMinutes'],
  ['setSeconds', 'setMilliseconds'],
  ['setUTCFullYear', 'setUTCMonth'],
  ['setUTCHours', 'setUTCMinutes'],
  ['setUTCSeconds', 'setUTCMilliseconds'],
] as const;
const BOOLEAN_OPERATORS = ['!=', '!==', '&&', '<', '<=', '==', '===', '>', '>=', '||'];
const ADDED_TEXT = "'Stryker was here!'";

/** Returns the texts that each replace one node of a source. */
export function replacementsOf(node: Node, parent: Node | undefined, source: string): string[] {
  const textOf = ({ start, end }: Node): string => source.slice(start ?? 0, end ?? 0);
  return [...replaceCondition(node, parent, textOf), ...replaceNode(node, parent, textOf)];
}

type TextOf = (node: Node) => string;

function replaceCondition(node: Node, parent: Node | undefined, textOf: TextOf): string[] {
  const isTest = parent !== undefined && 'test' in parent && parent.test === node;
  if (isTest && /^(?:For|While|DoWhile)Statement$/.test(parent.type)) return ['false'];
  if (isTest && parent.type === 'IfStatement') return ['true', 'false'];
  const isBinary = node.type === 'BinaryExpression' || node.type === 'LogicalExpression';
  if (isBinary && BOOLEAN_OPERATORS.includes(node.operator)) {
    if (parent?.type === 'LogicalExpression' && parent.operator === '||') return ['false'];
    if (parent?.type === 'LogicalExpression' && parent.operator === '&&') return ['true'];
    return ['true', 'false'];
  }
  if (node.type === 'ForStatement' && !node.test) return [textOf(node).replace(/;\s*;/, '; false;')];
  if (node.type === 'SwitchCase' && node.consequent.length > 0) {
    return [node.test ? `case ${textOf(node.test)}:` : 'default:'];
  }
  return [];
}

function replaceNode(node: Node, parent: Node | undefined, textOf: TextOf): string[] {
  if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') {
    const leftText = node.left.type === 'BinaryExpression' ? node.left.right : node.left;
    if (/^[-+*/%]$/.test(node.operator) && [leftText, node.right].some(isText)) return [];
    const text = textOf(node);
    const at = text.indexOf(node.operator, text.length - textAfter(node, node.left, textOf).length);
    const [before, after] = [text.slice(0, at).trimEnd(), text.slice(at + node.operator.length).trimStart()];
    // In parentheses, because `??` may not stand beside `&&` without.
    return (BINARY[node.operator] ?? []).map((name) => `((${before}) ${name} (${after}))`);
  }
  if (node.type === 'AssignmentExpression') {
    const name = ASSIGNMENTS[node.operator];
    const isLogical = /^(?:&&|\|\||\?\?)=$/.test(node.operator);
    if (name === undefined || (isText(node.right) && !isLogical)) return [];
    return [textOf(node.left) + textAfter(node, node.left, textOf).replace(node.operator, name)];
  }
  if (node.type === 'UnaryExpression') {
    if (node.operator === '!' || node.operator === '~') return [textOf(node).slice(1)];
    if (node.operator === '-' || node.operator === '+') {
      return [(node.operator === '-' ? '+' : '-') + textOf(node).slice(1)];
    }
    return [];
  }
  if (node.type === 'UpdateExpression') {
    const name = node.operator === '++' ? '--' : '++';
    return [node.prefix ? name + textOf(node.argument) : textOf(node.argument) + name];
  }
  if (node.type === 'BooleanLiteral') {
    return [String(!node.value)];
  }
  if (node.type === 'ArrayExpression') {
    return [node.elements.length === 0 ? "['Stryker was here']" : '[]'];
  }
  if (node.type === 'ObjectExpression') {
    return node.properties.length === 0 ? [] : ['{}'];
  }
  if (node.type === 'ArrowFunctionExpression') {
    const { body } = node;
    const isUndefined = body.type === 'Identifier' && body.name === 'undefined';
    return body.type === 'BlockStatement' || isUndefined ? [] : ['(() => undefined)'];
  }
  if (node.type === 'BlockStatement') {
    return node.body.length === 0 || (isConstructor(parent) && /\bsuper\(/.test(textOf(node))) ? [] : ['{}'];
  }
  if (node.type === 'TemplateLiteral') {
    return [node.quasis.length === 1 && node.quasis[0]?.value.raw === '' ? '`Stryker was here!`' : '``'];
  }
  if (node.type === 'StringLiteral') {
    return isReplaceableText(node, parent) ? [node.value === '' ? ADDED_TEXT : "''"] : [];
  }
  if (node.type === 'CallExpression' || node.type === 'NewExpression' || node.type === 'OptionalCallExpression') {
    return replaceCall(node, textOf);
  }
  if (node.type === 'OptionalMemberExpression') {
    return node.optional ? [withoutQuestion(node, node.object, textOf)] : [];
  }
  return [];
}

function replaceCall(
  node: Extract<Node, { type: 'CallExpression' | 'NewExpression' | 'OptionalCallExpression' }>,
  textOf: TextOf,
): string[] {
  const { callee } = node;
  const replacements: string[] = [];
  if (node.type === 'OptionalCallExpression' && node.optional) {
    replacements.push(withoutQuestion(node, callee, textOf));
  }
  if (node.type !== 'OptionalCallExpression' && callee.type === 'Identifier' && callee.name === 'Array') {
    const operator = node.type === 'NewExpression' ? 'new ' : '';
    replacements.push(`${operator}Array(${node.arguments.length === 0 ? '[]' : ''})`);
  }
  const isMember = callee.type === 'MemberExpression' || callee.type === 'OptionalMemberExpression';
  if (node.type === 'NewExpression' || !isMember || callee.property.type !== 'Identifier') return replacements;
  const { name } = callee.property;
  if (REMOVED_CALLS.includes(name)) replacements.push(`(${textOf(callee.object)})`);
  const pair = SWAPPED_CALLS.find(([one, other]) => name === one || name === other);
  if (pair) {
    const before = textOf(callee).slice(0, -name.length);
    replacements.push(before + (name === pair[0] ? pair[1] : pair[0]) + textOf(node).slice(textOf(callee).length));
  }
  return replacements;
}

/** Returns the text of an optional access without its question mark. */
function withoutQuestion(node: Node, object: Node, textOf: TextOf): string {
  const after = textAfter(node, object, textOf);
  const changed = after.replace(
    /^([\s)]*)\?\.([[(]?)/,
    (_, space: string, bracket: string) => space + (bracket || '.'),
  );
  return textOf(node).slice(0, -after.length) + changed;
}

/** Returns the end of the text of a node, from the end of a child on. Parentheses around the child are not part of it. */
function textAfter(node: Node, child: Node, textOf: TextOf): string {
  return textOf(node).slice((child.end ?? 0) - (node.start ?? 0));
}

function isText({ type }: Node): boolean {
  return type === 'StringLiteral' || type === 'TemplateLiteral';
}

function isConstructor(node: Node | undefined): boolean {
  return node?.type === 'ClassMethod' && node.kind === 'constructor';
}

function isReplaceableText(node: Node, parent: Node | undefined): boolean {
  if (parent === undefined || /^(?:Import|Export|ObjectMethod$|ExpressionStatement$)/.test(parent.type)) return false;
  if ('key' in parent && parent.key === node) return false;
  const callee = parent.type === 'CallExpression' ? parent.callee : undefined;
  return !(callee?.type === 'Import' || (callee?.type === 'Identifier' && /^(?:require|Symbol)$/.test(callee.name)));
}
