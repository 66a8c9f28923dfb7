import type * as t from '@babel/types';
import { boundNames, given, keyName } from '../syntax/nodes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';

/** A name of another module: `imported` is undefined for all of it. */
export interface Imported {
  readonly specifier: string;
  readonly imported: string | undefined;
}

/** The names at the top level of a file. */
export class ModuleNames {
  readonly file: SourceFile;
  /** The code that defines or changes each name: its declaration, and statements such as `table.x = 1`. */
  readonly code = new Map<string, t.Node[]>();
  readonly imports = new Map<string, Imported>();
  /** The local name of each exported one, or the module that it comes from. */
  readonly exports = new Map<string, string | Imported>();
  readonly stars: string[] = [];

  constructor(file: SourceFile) {
    this.file = file;
    for (const statement of file.program?.body ?? []) this.#note(statement);
  }

  #note(statement: t.Statement): void {
    if (statement.type === 'ImportDeclaration') this.#noteImport(statement);
    else if (statement.type === 'ExportAllDeclaration') this.stars.push(statement.source.value);
    else if (statement.type === 'ExportDefaultDeclaration') this.#noteDefault(statement.declaration);
    else if (statement.type === 'ExportNamedDeclaration') this.#noteExport(statement);
    else if (statement.type === 'ExpressionStatement') {
      const name = leftmost(statement.expression);
      if (name !== undefined) this.#define(name, statement);
    } else this.#declare(statement);
  }

  #declare(declaration: t.Node): readonly string[] {
    if (declaration.type !== 'VariableDeclaration') {
      const names = boundNames(declaration);
      for (const name of names) this.#define(name, declaration);
      return names;
    }
    return declaration.declarations.flatMap((declarator) => {
      const names = boundNames(declarator.id);
      for (const name of names) this.#define(name, declarator);
      return names;
    });
  }

  #define(name: string, code: t.Node): void {
    const definitions = this.code.get(name);
    if (definitions === undefined) this.code.set(name, [code]);
    else definitions.push(code);
  }

  #noteImport({ source, specifiers, importKind }: t.ImportDeclaration): void {
    if (importKind === 'type') return;
    for (const specifier of specifiers) {
      const imported =
        specifier.type === 'ImportDefaultSpecifier'
          ? 'default'
          : specifier.type === 'ImportSpecifier'
            ? keyName(specifier.imported, false)
            : undefined;
      this.imports.set(specifier.local.name, { specifier: source.value, imported });
    }
  }

  #noteDefault(declaration: t.ExportDefaultDeclaration['declaration']): void {
    const [name] = boundNames(declaration);
    this.exports.set('default', declaration.type === 'Identifier' ? declaration.name : (name ?? 'default'));
    this.#define(name ?? 'default', declaration);
  }

  #noteExport({ declaration, specifiers, source }: t.ExportNamedDeclaration): void {
    if (given(declaration)) for (const name of this.#declare(declaration)) this.exports.set(name, name);
    for (const specifier of specifiers) {
      const exported = keyName(specifier.exported, false);
      if (exported === undefined) continue;
      const local = specifier.type === 'ExportSpecifier' ? (keyName(specifier.local, false) ?? exported) : undefined;
      if (given(source)) this.exports.set(exported, { specifier: source.value, imported: local });
      else if (local !== undefined) this.exports.set(exported, local);
    }
  }
}

/** The name that a statement changes or calls a method of: `table` in `table.x = 1` and `table.set(1)`. */
function leftmost(expression: t.Node): string | undefined {
  let at: t.Node = expression;
  for (;;) {
    if (at.type === 'Identifier') return at.name;
    if (at.type === 'AssignmentExpression') at = at.left;
    else if (at.type === 'AwaitExpression') at = at.argument;
    else if (at.type === 'CallExpression' || at.type === 'OptionalCallExpression') {
      if (at.callee.type === 'Identifier') return undefined; // a call of a function does not change the function
      at = at.callee;
    } else if (at.type === 'MemberExpression' || at.type === 'OptionalMemberExpression') at = at.object;
    else return undefined;
  }
}
