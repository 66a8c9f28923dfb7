import type * as t from '@babel/types';
import { unwrapped, visitNodes } from '../syntax/nodes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';

const PACKAGE = 'pocketflow';
const MAX_DEPTH = 20;
const NODES = new Set(['BaseNode', 'Node', 'BatchNode', 'ParallelBatchNode']);
const FLOWS = new Set(['Flow', 'BatchFlow', 'ParallelBatchFlow']);

export type Kind = 'node' | 'flow';

/** The classes of PocketFlow in a file, and those of the file that extend them. */
export class LibraryNames {
  /** The string literals that name the package. */
  readonly specifiers: t.StringLiteral[] = [];
  readonly #names = new Map<string, string>();
  readonly #namespaces = new Set<string>();
  readonly #classes = new Map<string, t.Class>();
  readonly #repeated = new Set<string>();

  constructor({ program }: SourceFile) {
    if (program === undefined) return;
    visitNodes(program, (node, parent) => {
      if (node.type === 'ImportDeclaration' && node.source.value === PACKAGE) this.#import(node);
      if (node.type === 'VariableDeclarator' && node.init) this.#require(node.id, node.init);
      if (node.type === 'ClassDeclaration' && node.id) this.#declare(node.id.name, node);
      if (node.type !== 'ClassExpression' || parent?.type !== 'VariableDeclarator') return;
      if (parent.id.type === 'Identifier') this.#declare(parent.id.name, node);
    });
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

  /** Whether `new` with this class, or `super` in a class that extends it, calls the constructor of the library. */
  isConstructedByLibrary(callee: t.Node): boolean {
    return this.#libraryOf(callee, 0)?.hasConstructor === false;
  }

  #libraryOf(callee: t.Node, depth: number): { library: string; hasConstructor: boolean } | undefined {
    const at = unwrapped(callee);
    if (at.type === 'MemberExpression' && at.object.type === 'Identifier' && at.property.type === 'Identifier') {
      return this.#namespaces.has(at.object.name) ? { library: at.property.name, hasConstructor: false } : undefined;
    }
    if (at.type === 'TSQualifiedName' && at.left.type === 'Identifier') {
      return this.#namespaces.has(at.left.name) ? { library: at.right.name, hasConstructor: false } : undefined;
    }
    if (at.type !== 'Identifier' || depth > MAX_DEPTH) return undefined;
    const library = this.#names.get(at.name);
    if (library !== undefined) return { library, hasConstructor: false };
    const own = this.#classes.get(at.name);
    const parent = own?.superClass ? this.#libraryOf(own.superClass, depth + 1) : undefined;
    if (own === undefined || parent === undefined) return undefined;
    return { library: parent.library, hasConstructor: parent.hasConstructor || constructorOf(own) !== undefined };
  }

  #declare(name: string, node: t.Class): void {
    if (this.#classes.has(name)) this.#repeated.add(name);
    this.#classes.set(name, node);
  }

  #import({ source, specifiers }: t.ImportDeclaration): void {
    this.specifiers.push(source);
    for (const specifier of specifiers) {
      if (specifier.type === 'ImportSpecifier') {
        const { imported, local } = specifier;
        this.#names.set(local.name, imported.type === 'Identifier' ? imported.name : imported.value);
      } else this.#namespaces.add(specifier.local.name);
    }
  }

  #require(id: t.Node, init: t.Node): void {
    const call = unwrapped(init);
    if (call.type !== 'CallExpression' || call.callee.type !== 'Identifier' || call.callee.name !== 'require') return;
    const [specifier] = call.arguments;
    if (specifier?.type !== 'StringLiteral' || specifier.value !== PACKAGE) return;
    this.specifiers.push(specifier);
    if (id.type === 'Identifier') this.#namespaces.add(id.name);
    if (id.type !== 'ObjectPattern') return;
    for (const property of id.properties) {
      if (property.type !== 'ObjectProperty' || property.key.type !== 'Identifier') continue;
      if (property.value.type === 'Identifier') this.#names.set(property.value.name, property.key.name);
    }
  }
}

export function constructorOf({ body }: t.Class): t.ClassMethod | undefined {
  return body.body.find(
    (member): member is t.ClassMethod => member.type === 'ClassMethod' && member.kind === 'constructor',
  );
}
