import type * as t from '@babel/types';
import { type FindFile, importCandidates } from '../reading/modules.ts';
import { given, keyName, unwrapped, visitNodes } from '../syntax/nodes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';

const PACKAGE = 'pocketflow';
/** What other files may import already, whose migration was written before. */
const PACKAGES_OF_OTHERS = [PACKAGE, 'farwharf/agents'];
const MAX_DEPTH = 20;
const NODES = new Set(['BaseNode', 'Node', 'BatchNode', 'ParallelBatchNode']);
const FLOWS = new Set(['Flow', 'BatchFlow', 'ParallelBatchFlow']);

export type Kind = 'node' | 'flow';

/** A class of PocketFlow, or one that extends it. */
interface LibraryClass {
  /** The name of PocketFlow's class. */
  readonly library: string;
  readonly isItself: boolean;
  /** Whether a class that extends it has a constructor of its own. */
  readonly hasConstructor: boolean;
}

/** A name of another file; `*` for the file itself. */
interface ImportedName {
  readonly specifier: string;
  readonly name: string;
}

/** The classes of PocketFlow in a file, and those of this file and of the files that it imports that extend them. */
export class LibraryNames {
  /** The string literals that name the package. */
  readonly specifiers: t.StringLiteral[] = [];
  readonly #path: string;
  readonly #find: FindFile;
  readonly #packages: readonly string[];
  readonly #module: ModuleLinks;
  readonly #classes = new Map<string, t.Class>();
  readonly #repeated = new Set<string>();
  /** The files that were read so far, by their paths. */
  readonly #others: Map<string, LibraryNames>;

  /** @param find finds the files that this one imports. */
  constructor(file: SourceFile, find: FindFile, packages = [PACKAGE], others = new Map<string, LibraryNames>()) {
    this.#path = file.path;
    this.#find = find;
    this.#packages = packages;
    this.#others = others;
    this.#module = new ModuleLinks(file);
    if (file.program === undefined) return;
    visitNodes(file.program, (node, parent) => {
      if (node.type === 'ImportDeclaration') this.#noteSpecifier(node.source);
      if (node.type === 'VariableDeclarator' && node.init) this.#noteSpecifier(requireOf(node.init));
      if (node.type === 'ClassDeclaration') this.#declare(node.id?.name ?? 'default', node);
      if (node.type !== 'ClassExpression' || parent?.type !== 'VariableDeclarator') return;
      if (parent.id.type === 'Identifier') this.#declare(parent.id.name, node);
    });
  }

  /** Whether the file imports PocketFlow, or a class that extends one of it. */
  get isUsed(): boolean {
    const imported = [...this.#module.imports].filter(([, { specifier }]) => isRelative(specifier));
    return this.specifiers.length > 0 || imported.some(([name]) => this.#named(name, 0) !== undefined);
  }

  /** A class that the file declares; undefined if it declares none or several of this name. */
  classNamed(name: string): t.Class | undefined {
    return this.#repeated.has(name) ? undefined : this.#classes.get(name);
  }

  /** What instances of the class that an expression names are; undefined for anything else. */
  kindOf(callee: t.Node): Kind | undefined {
    const library = this.libraryOf(callee);
    if (library === undefined) return undefined;
    return FLOWS.has(library) ? 'flow' : NODES.has(library) ? 'node' : undefined;
  }

  /** The name of the class of PocketFlow that the class is or extends. */
  libraryOf(callee: t.Node): string | undefined {
    return this.#libraryOf(callee, 0)?.library;
  }

  /** Whether an expression names a class of PocketFlow itself, whose type arguments have its meaning. */
  isOfLibrary(callee: t.Node): boolean {
    return this.#libraryOf(callee, 0)?.isItself === true;
  }

  /** Whether `new` with this class, or `super` in a class that extends it, calls the constructor of the library. */
  isConstructedByLibrary(callee: t.Node): boolean {
    return this.#libraryOf(callee, 0)?.hasConstructor === false;
  }

  #libraryOf(callee: t.Node, depth: number): LibraryClass | undefined {
    const at = unwrapped(callee);
    if (at.type === 'Identifier') return this.#named(at.name, depth);
    if (at.type === 'MemberExpression' && at.object.type === 'Identifier' && at.property.type === 'Identifier') {
      return this.#memberOf(at.object.name, at.property.name, depth);
    }
    if (at.type === 'TSQualifiedName' && at.left.type === 'Identifier') {
      return this.#memberOf(at.left.name, at.right.name, depth);
    }
    return undefined;
  }

  #memberOf(namespace: string, name: string, depth: number): LibraryClass | undefined {
    const imported = this.#module.imports.get(namespace);
    // TypeScript lets a CommonJS package be imported by its default, too.
    const isAll = imported?.name === '*' || (imported?.name === 'default' && this.#isPackage(imported.specifier));
    return isAll ? this.#imported({ specifier: imported.specifier, name }, depth) : undefined;
  }

  #named(name: string, depth: number): LibraryClass | undefined {
    if (depth > MAX_DEPTH) return undefined;
    const imported = this.#module.imports.get(name);
    if (imported !== undefined) return this.#imported(imported, depth);
    const className = this.#classes.get(name);
    const parent = className?.superClass ? this.#libraryOf(className.superClass, depth + 1) : undefined;
    if (className === undefined || parent === undefined) return undefined;
    const hasConstructor = parent.hasConstructor || constructorOf(className) !== undefined;
    return { library: parent.library, isItself: false, hasConstructor };
  }

  #imported({ specifier, name }: ImportedName, depth: number): LibraryClass | undefined {
    if (name === '*') return undefined;
    if (this.#isPackage(specifier)) return { library: name, isItself: true, hasConstructor: false };
    const other = depth > MAX_DEPTH ? undefined : this.#otherFile(specifier);
    return other === undefined ? undefined : other.#exported(name, depth + 1);
  }

  #exported(name: string, depth: number): LibraryClass | undefined {
    const exported = this.#module.exports.get(name);
    if (typeof exported === 'string') return this.#named(exported, depth);
    if (exported !== undefined) return this.#imported(exported, depth);
    for (const specifier of this.#module.stars) {
      const origin = this.#imported({ specifier, name }, depth);
      if (origin !== undefined) return origin;
    }
    return undefined;
  }

  #otherFile(specifier: string): LibraryNames | undefined {
    const file = isRelative(specifier) ? this.#find(importCandidates(specifier, this.#path)) : undefined;
    if (file === undefined) return undefined;
    const existing = this.#others.get(file.path);
    if (existing !== undefined) return existing;
    const other = new LibraryNames(file, this.#find, PACKAGES_OF_OTHERS, this.#others);
    this.#others.set(file.path, other);
    return other;
  }

  #isPackage(specifier: string): boolean {
    return this.#packages.includes(specifier);
  }

  #noteSpecifier(specifier: t.StringLiteral | undefined): void {
    if (specifier !== undefined && this.#isPackage(specifier.value)) this.specifiers.push(specifier);
  }

  #declare(name: string, node: t.Class): void {
    if (this.#classes.has(name)) this.#repeated.add(name);
    this.#classes.set(name, node);
  }
}

function isRelative(specifier: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(specifier);
}

export function constructorOf({ body }: t.Class): t.ClassMethod | undefined {
  return body.body.find(
    (member): member is t.ClassMethod => member.type === 'ClassMethod' && member.kind === 'constructor',
  );
}

/** What a file imports from other files, and what it exports, as ES module or CommonJS. */
class ModuleLinks {
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
function requireOf(init: t.Node): t.StringLiteral | undefined {
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
