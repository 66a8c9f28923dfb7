import { createHash } from 'node:crypto';
import type * as t from '@babel/types';
import { importCandidates, type FindFile } from '../reading/modules.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import { referencesIn } from './references.ts';
import { boundNames, given, keyName } from '../syntax/nodes.ts';

/** A hash of the reached code in each file, by path. */
export type ReachedFiles = ReadonlyMap<string, string>;

/** A piece of code, and the file that it is in. */
export interface Code {
  readonly file: SourceFile;
  readonly node: t.Node;
}

// More than any step of a real flow reaches. Code beyond it is not followed.
const MAX_PIECES = 20_000;

/** A name of another module: `imported` is undefined for all of it. */
interface Imported {
  readonly specifier: string;
  readonly imported: string | undefined;
}

/** Finds the code that a piece of code can reach through names and relative imports; packages are not followed. */
export class CodeReach {
  readonly #find: FindFile;
  readonly #modules = new Map<SourceFile, ModuleNames>();

  constructor(find: FindFile) {
    this.#find = find;
  }

  /** The hashes of all code that the pieces reach, themselves included. */
  of(pieces: readonly Code[]): ReachedFiles {
    const walk = new Walk();
    for (const piece of pieces) walk.add(piece.file, piece.node);
    for (const { file, node } of walk.pieces) {
      const { names, modules } = referencesIn(node);
      for (const name of names) this.#reachName(walk, file, name);
      for (const specifier of modules) this.#reachModule(walk, file, { specifier, imported: undefined });
    }
    return walk.hashes();
  }

  #namesOf(file: SourceFile): ModuleNames {
    const topNames = this.#modules.get(file) ?? new ModuleNames(file);
    this.#modules.set(file, topNames);
    return topNames;
  }

  #reachName(walk: Walk, file: SourceFile, name: string): void {
    if (!walk.isNew(file, name)) return;
    const { code, imports } = this.#namesOf(file);
    for (const node of code.get(name) ?? []) walk.add(file, node);
    const imported = imports.get(name);
    if (imported !== undefined) this.#reachModule(walk, file, imported);
  }

  /** Reaches an export of a module; all of it if the export is not known. */
  #reachModule(
    walk: Walk,
    from: SourceFile,
    { specifier, imported }: { readonly specifier: string; readonly imported: string | undefined },
  ): void {
    if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return;
    const file = this.#find(importCandidates(specifier, from.path));
    if (file === undefined) return;
    if (imported === undefined || !this.#reachExport(walk, file, imported)) walk.addWhole(file);
  }

  #reachExport(walk: Walk, file: SourceFile, name: string): boolean {
    if (!walk.isNew(file, `export ${name}`)) return true;
    const { exports, stars } = this.#namesOf(file);
    const exported = exports.get(name);
    if (typeof exported === 'string') {
      this.#reachName(walk, file, exported);
      return true;
    }
    if (exported !== undefined) this.#reachModule(walk, file, exported);
    // One of these modules has the name. Including the others only makes a recording stale more often than necessary.
    else for (const specifier of stars) this.#reachModule(walk, file, { specifier, imported: name });
    return exported !== undefined || stars.length > 0;
  }
}

/** What was reached so far. */
class Walk {
  /** Grows while it is read. */
  readonly pieces: Code[] = [];
  readonly #seen = new Set<string>();
  readonly #byFile = new Map<string, Map<number, string>>();

  isNew({ path }: SourceFile, name: string): boolean {
    const key = `${path}\n${name}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  add(file: SourceFile, node: t.Node): void {
    const [start, end] = [startOf(node), endOf(node)];
    if (this.pieces.length >= MAX_PIECES || !this.isNew(file, `${start}-${end}`)) return;
    this.pieces.push({ file, node });
    this.#keep(file.path, start, file.text.slice(start, end));
  }

  /** Adds a file as a whole: its exports are unknown, or it is not a module. */
  addWhole(file: SourceFile): void {
    if (file.program !== undefined) this.add(file, file.program);
    this.#keep(file.path, -1, file.text);
  }

  hashes(): ReachedFiles {
    const hashes = new Map<string, string>();
    for (const [path, pieces] of this.#byFile) {
      const hash = createHash('sha256');
      // Not by position, so that code above can move.
      for (const text of [...pieces.values()].toSorted()) hash.update(`${text}\n`);
      hashes.set(path, hash.digest('base64url').slice(0, 16));
    }
    return hashes;
  }

  #keep(path: string, start: number, text: string): void {
    const pieces = this.#byFile.get(path) ?? new Map<number, string>();
    this.#byFile.set(path, pieces);
    pieces.set(start, text);
  }
}

/** The names at the top level of a file. */
class ModuleNames {
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
