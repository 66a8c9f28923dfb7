import type * as t from '@babel/types';
import { given, keyName, unwrapped, visitNodes } from '../syntax/nodes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';

/** A name of another file; `*` for the file itself. */
export interface ImportedName {
  readonly specifier: string;
  readonly name: string;
}

/** What a file imports from other files, and what it exports, as ES module or CommonJS. */
export class ModuleLinks {
  /** By their names in this file. */
  readonly imports = new Map<string, ImportedName>();
  /** A name of this file, or one of another file. */
  readonly exports = new Map<string, string | ImportedName>();
  /** The files of which everything is exported. */
  readonly stars: string[] = [];

  constructor({ program }: SourceFile) {
    if (program === undefined) return;
    visitNodes(program, (node) => {
      if (node.type === 'ImportDeclaration') this.#import(node);
      if (node.type === 'VariableDeclarator') this.#require(node);
      if (node.type === 'ExportAllDeclaration') this.stars.push(node.source.value);
      if (node.type === 'ExportNamedDeclaration') this.#export(node);
      if (node.type === 'AssignmentExpression') this.#assignExports(node);
      if (node.type !== 'ExportDefaultDeclaration') return;
      const { declaration } = node;
      if (declaration.type === 'Identifier') this.exports.set('default', declaration.name);
      if (declaration.type === 'ClassDeclaration') this.exports.set('default', declaration.id?.name ?? 'default');
    });
  }

  #import({ source, specifiers }: t.ImportDeclaration): void {
    for (const specifier of specifiers) {
      const isAll = specifier.type === 'ImportNamespaceSpecifier';
      const name = specifier.type === 'ImportSpecifier' ? keyName(specifier.imported, false) : isAll ? '*' : 'default';
      if (name !== undefined) this.imports.set(specifier.local.name, { specifier: source.value, name });
    }
  }

  #require({ id, init }: t.VariableDeclarator): void {
    const specifier = given(init) ? requireOf(init)?.value : undefined;
    if (specifier === undefined) return;
    if (id.type === 'Identifier') this.imports.set(id.name, { specifier, name: '*' });
    if (id.type !== 'ObjectPattern') return;
    for (const property of id.properties) {
      if (property.type !== 'ObjectProperty' || property.value.type !== 'Identifier') continue;
      const name = keyName(property.key, property.computed);
      if (name !== undefined) this.imports.set(property.value.name, { specifier, name });
    }
  }

  #export({ declaration, specifiers, source }: t.ExportNamedDeclaration): void {
    if (declaration?.type === 'ClassDeclaration' && declaration.id) {
      this.exports.set(declaration.id.name, declaration.id.name);
    }
    if (declaration?.type === 'VariableDeclaration') {
      for (const { id } of declaration.declarations) if (id.type === 'Identifier') this.exports.set(id.name, id.name);
    }
    for (const specifier of specifiers) {
      const exported = specifier.type === 'ExportSpecifier' ? keyName(specifier.exported, false) : undefined;
      const local = specifier.type === 'ExportSpecifier' ? keyName(specifier.local, false) : undefined;
      if (exported === undefined || local === undefined) continue;
      this.exports.set(exported, given(source) ? { specifier: source.value, name: local } : local);
    }
  }

  /** `module.exports = { A, b: B }`, `exports.A = A`. */
  #assignExports({ left, right }: t.AssignmentExpression): void {
    if (left.type !== 'MemberExpression') return;
    const name = keyName(left.property, left.computed);
    const isAll = left.object.type === 'Identifier' && left.object.name === 'module' && name === 'exports';
    if (isAll && right.type === 'ObjectExpression') {
      for (const property of right.properties) {
        if (property.type !== 'ObjectProperty' || property.value.type !== 'Identifier') continue;
        const exported = keyName(property.key, property.computed);
        if (exported !== undefined) this.exports.set(exported, property.value.name);
      }
    } else if (isExports(left.object) && name !== undefined && right.type === 'Identifier') {
      this.exports.set(name, right.name);
    }
  }
}

/** The string of `require('…')`. */
export function requireOf(init: t.Node): t.StringLiteral | undefined {
  const call = unwrapped(init);
  if (call.type !== 'CallExpression' || call.callee.type !== 'Identifier' || call.callee.name !== 'require')
    return undefined;
  const [specifier] = call.arguments;
  return specifier?.type === 'StringLiteral' ? specifier : undefined;
}

/** Whether an expression is `exports` or `module.exports`. */
function isExports(node: t.Node): boolean {
  if (node.type === 'Identifier') return node.name === 'exports';
  return node.type === 'MemberExpression' && keyName(node.property, node.computed) === 'exports';
}
