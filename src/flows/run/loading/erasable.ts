import { parse } from '@babel/parser';
import type * as t from '@babel/types';
import { boundNames, nodeRule, type Rules, visitNodes } from '../../syntax/nodes.ts';
import { endOf, startOf } from '../../syntax/sourceFile.ts';
import { TextEdits } from '../../syntax/edits.ts';

const REWRITES: Rules<[edits: TextEdits], void> = {
  Program: ({ body }, edits) => lowerStatements(body, undefined, edits),
  BlockStatement: ({ body }, edits) => lowerStatements(body, undefined, edits),
  StaticBlock: ({ body }, edits) => lowerStatements(body, undefined, edits),
  ClassDeclaration: lowerParameterProperties,
  ClassExpression: lowerParameterProperties,
  TSTypeAssertion: (node, edits) => {
    edits.replace(startOf(node), startOf(node.expression), '(');
    edits.insert(endOf(node), ')');
  },
};

const TYPES: ReadonlySet<t.Node['type']> = new Set([
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
  'EmptyStatement',
] as const);

interface Place {
  /** The namespace that exports the declaration. */
  readonly owner: string | undefined;
  /** Whether it adds to an earlier one of the same name. */
  readonly isMerged: boolean;
}

/**
 * Rewrites enums, namespaces, parameter properties and assertions as in `<T>x`, so that only type syntax is left to remove.
 * Every line stays where it was. Text that does not parse, and other syntax that cannot be removed, is returned unchanged:
 * Node.js then reports the problem.
 */
export function toErasable(text: string): string {
  let program: t.Program;
  try {
    ({ program } = parse(text, {
      sourceType: 'unambiguous',
      allowReturnOutsideFunction: true,
      createParenthesizedExpressions: true, // otherwise their parentheses would belong to no node
      attachComment: false,
      locations: false,
      plugins: ['typescript', 'decorators'],
    }));
  } catch {
    return text;
  }
  const edits = new TextEdits(text);
  visitNodes(program, (node) => nodeRule(REWRITES, node)?.(node, edits));
  return edits.apply();
}

/** Rewrites `constructor(private x: T)` as a parameter and an assignment, after `super()` if there is one. */
function lowerParameterProperties(owner: t.Class, edits: TextEdits): void {
  for (const member of owner.body.body) {
    if (member.type !== 'ClassMethod' || member.kind !== 'constructor') continue;
    const properties = member.params.filter((parameter) => parameter.type === 'TSParameterProperty');
    if (properties.length === 0) continue;
    const hasSuper = owner.superClass !== null && owner.superClass !== undefined;
    const at = hasSuper ? afterSuper(member.body) : bodyStart(member.body);
    if (at === undefined) continue; // unchanged, so that Node.js rejects it
    for (const { parameter, ...property } of properties) {
      edits.replace(property.start ?? 0, startOf(parameter), '');
    }
    const names = properties.map(({ parameter }) =>
      parameter.type === 'Identifier' ? parameter.name : nameOfPattern(parameter),
    );
    edits.insert(at, names.map((name) => ` this.${name} = ${name};`).join(''));
  }
}

function nameOfPattern({ left }: t.AssignmentPattern): string {
  return left.type === 'Identifier' ? left.name : '';
}

function bodyStart(body: t.BlockStatement): number {
  const lastDirective = body.directives?.at(-1);
  return lastDirective === undefined ? startOf(body) + 1 : endOf(lastDirective);
}

function afterSuper(body: t.BlockStatement): number | undefined {
  const call = body.body.find(
    (statement) =>
      statement.type === 'ExpressionStatement' &&
      statement.expression.type === 'CallExpression' &&
      statement.expression.callee.type === 'Super',
  );
  return call && endOf(call);
}

/**
 * Rewrites the enums and namespaces of a list of statements.
 *
 * @param owner the namespace around the statements: their exports become its properties.
 */
function lowerStatements(statements: readonly t.Statement[], owner: string | undefined, edits: TextEdits): void {
  const declared = new Set<string>();
  for (const statement of statements) {
    const exported = statement.type === 'ExportNamedDeclaration' ? (statement.declaration ?? undefined) : undefined;
    const declaration = exported ?? statement;
    const place = { owner: exported === undefined ? undefined : owner, isMerged: declared.has(nameOf(declaration)) };
    const isLowered = lowerDeclaration(declaration, place, edits);
    // Inside a function nothing can be exported, and a module exports a name once.
    const mayExport = owner === undefined && !(isLowered && place.isMerged);
    if (exported !== undefined && !mayExport) edits.replace(startOf(statement), startOf(exported), '');
    if (exported !== undefined && owner !== undefined && !isLowered) exportTo(owner, exported, edits);
    if (!isTypeOnly(declaration)) declared.add(nameOf(declaration));
  }
}

/** Returns whether the declaration was an enum or a namespace with values. */
function lowerDeclaration(node: t.Node, { owner, isMerged }: Place, edits: TextEdits): boolean {
  if (isTypeOnly(node)) return false;
  const targetOf = (name: string, inside: string | undefined): string =>
    inside === undefined ? `${name} || (${name} = {})` : `${name} = ${inside}.${name} || (${inside}.${name} = {})`;
  const headOf = (name: string): string => (isMerged ? ';' : `var ${name}; `);
  if (node.type === 'TSEnumDeclaration') {
    const { name } = node.id;
    lowerEnum(node, { head: headOf(name), target: targetOf(name, owner) }, edits);
    return true;
  }
  if (node.type !== 'TSModuleDeclaration' || node.id.type === 'StringLiteral') return false;
  const names = namesOf(node.id);
  const heads = names.map((name, depth) => `${depth === 0 ? headOf(name) : `var ${name}; `}(function (${name}) { `);
  const tails = names.map((name, depth) => `})(${targetOf(name, depth === 0 ? owner : names[depth - 1])});`);
  edits.replace(startOf(node), startOf(node.body) + 1, heads.join(''));
  edits.replace(endOf(node) - 1, endOf(node), tails.reverse().join(' '));
  lowerStatements(node.body.body, names.at(-1), edits);
  return true;
}

function exportTo(owner: string, declaration: t.Declaration, edits: TextEdits): void {
  if (isTypeOnly(declaration)) return;
  const canChange = declaration.type === 'VariableDeclaration' && declaration.kind !== 'const';
  const exports = boundNames(declaration).map((name) =>
    canChange
      ? ` Object.defineProperty(${owner}, "${name}", { enumerable: true, get: () => ${name}, set: ($value) => { ${name} = $value; } });`
      : ` ${owner}.${name} = ${name};`,
  );
  edits.insert(endOf(declaration), exports.length === 0 ? '' : `;${exports.join('')}`);
}

function namesOf(id: t.TSEntityName): string[] {
  if (id.type === 'TSQualifiedName') return [...namesOf(id.left), id.right.name];
  return id.type === 'Identifier' ? [id.name] : [];
}

function nameOf(node: t.Node): string {
  if (node.type === 'TSModuleDeclaration') return node.id.type === 'StringLiteral' ? '' : (namesOf(node.id)[0] ?? '');
  return boundNames(node)[0] ?? '';
}

/** Whether a statement contains only types, so that nothing is left of it when they are removed. */
function isTypeOnly(node: t.Node): boolean {
  if (TYPES.has(node.type) || ('declare' in node && node.declare === true)) return true;
  if (node.type === 'ExportNamedDeclaration') return node.exportKind === 'type' || isDeclarationOfTypes(node);
  return node.type === 'TSModuleDeclaration' && (node.kind === 'global' || node.body.body.every(isTypeOnly));
}

function isDeclarationOfTypes({ declaration }: t.ExportNamedDeclaration): boolean {
  return declaration !== null && declaration !== undefined && isTypeOnly(declaration);
}

/**
 * Rewrites an enum as the object that TypeScript compiles it to: numbers map back to their names, strings do not.
 *
 * @param head the declaration of the variable, such as `var Name; `.
 * @param target the object, such as `Name || (Name = {})`.
 */
function lowerEnum(
  node: t.TSEnumDeclaration,
  { head, target }: { readonly head: string; readonly target: string },
  edits: TextEdits,
): void {
  const { id, body } = node;
  const add = `const $add = (name, value) => { if (typeof value === "string") ${id.name}[name] = value; else ${id.name}[${id.name}[name] = value] = name; return $last = value; };`;
  // An array of calls, because the commas can stay.
  edits.replace(startOf(node), startOf(body) + 1, `${head}(function (${id.name}) { let $last = -1; ${add} void [`);
  const names = new Set(body.members.map(memberName));
  for (const member of body.members) {
    const { initializer } = member;
    const call = `$add(${JSON.stringify(memberName(member))}, `;
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

function memberName({ id }: t.TSEnumMember): string {
  return id.type === 'Identifier' ? id.name : id.value;
}
