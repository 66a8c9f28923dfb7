import type * as t from '@babel/types';

const NAMES: Rules<[], string[]> = {
  VariableDeclaration: ({ declarations }) => declarations.flatMap(({ id }) => boundNames(id)),
  FunctionDeclaration: ({ id }) => optionalName(id),
  ClassDeclaration: ({ id }) => optionalName(id),
  TSEnumDeclaration: ({ id }) => [id.name],
  Identifier: ({ name }) => [name],
  ObjectPattern: ({ properties }) =>
    properties.flatMap((property) => boundNames(property.type === 'RestElement' ? property.argument : property.value)),
  ArrayPattern: ({ elements }) => elements.flatMap((element) => (element === null ? [] : boundNames(element))),
  AssignmentPattern: ({ left }) => boundNames(left),
  RestElement: ({ argument }) => boundNames(argument),
};

/** Rules by type of syntax node, each typed by its node. */
export type Rules<Args extends readonly unknown[], Result> = {
  readonly [Type in t.Node['type']]?: (node: Extract<t.Node, { type: Type }>, ...args: Args) => Result;
};

/** The rule for a node; undefined if its type has none. */
export function nodeRule<Args extends readonly unknown[], Result>(
  rules: Rules<Args, Result>,
  node: t.Node,
): ((node: t.Node, ...args: Args) => Result) | undefined;
export function nodeRule(rules: Rules<readonly never[], unknown>, { type }: t.Node): unknown {
  return rules[type];
}

/** Whether an optional part of a node is present. The parser omits it or writes null. */
export function given<T>(part: T | null | undefined): part is T {
  return part !== null && part !== undefined;
}

export function isFunctionDeclaration(node: t.Node | null | undefined): node is t.FunctionDeclaration {
  return node?.type === 'FunctionDeclaration';
}

const WRAPPERS: Rules<[], t.Node> = {
  ParenthesizedExpression: ({ expression }) => expression,
  TSAsExpression: ({ expression }) => expression,
  TSSatisfiesExpression: ({ expression }) => expression,
  TSNonNullExpression: ({ expression }) => expression,
  TSTypeAssertion: ({ expression }) => expression,
  TSInstantiationExpression: ({ expression }) => expression,
  AwaitExpression: ({ argument }) => argument,
};

/** The expression inside parentheses, `await` and TypeScript's wrappers such as `as`. */
export function unwrapped(node: t.Node): t.Node {
  const inner = nodeRule(WRAPPERS, node)?.(node);
  return inner === undefined ? node : unwrapped(inner);
}

/** The name of a property; undefined if it is computed from anything other than a literal. */
export function keyName(key: t.Node, isComputed: boolean): string | undefined {
  if (key.type === 'PrivateName') return `#${key.id.name}`;
  if (key.type === 'Identifier') return isComputed ? undefined : key.name;
  if (key.type === 'StringLiteral' || key.type === 'NumericLiteral') return String(key.value);
  return undefined;
}
/** Calls `visit` with a node, its parent, and all nodes below. Chains of calls can be deep, so this does not recurse. */
export function visitNodes(root: t.Node, visit: (node: t.Node, parent: t.Node | undefined) => void): void {
  const left: { node: t.Node; parent: t.Node | undefined }[] = [{ node: root, parent: undefined }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, parent } = next;
    visit(node, parent);
    for (const child of childrenOf(node)) left.push({ node: child, parent: node });
  }
}

function childrenOf(node: t.Node): t.Node[] {
  const children: t.Node[] = [];
  const values: readonly unknown[] = Object.values(node);
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue;
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const item of items) if (isNode(item)) children.push(item);
  }
  return children;
}

function isNode(value: unknown): value is t.Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** The names that a declaration or pattern defines; none for other nodes. */
export function boundNames(node: t.Node): string[] {
  return nodeRule(NAMES, node)?.(node) ?? [];
}

function optionalName(id: t.Identifier | null | undefined): string[] {
  return given(id) ? [id.name] : [];
}
