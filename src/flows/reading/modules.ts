import { dirname, isAbsolute, join } from 'node:path';
import type * as t from '@babel/types';
import { Evaluator } from '../interpreter/evaluator.ts';
import { boundNames, given, keyName } from '../syntax/nodes.ts';
import { createCell, createScope } from '../interpreter/scopes.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
import { LIBRARY_NAMES, NODE_FUNCTIONS } from '../interpreter/library.ts';
import { type ModuleValue, type Scope, unknown, type Value } from '../interpreter/values.ts';

/** Finds the first of some files that exists. */
export type FindFile = (candidates: readonly string[]) => SourceFile | undefined;

/** The module whose classes are nodes and flows. */
const LIBRARY = 'farwharf/agents';
const EXTENSIONS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx'];
const TYPED: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
};

/** The files that a relative import can mean, likeliest first: `./x`, `./x.js` for `x.ts`, and `index` of a folder. */
export function importCandidates(specifier: string, from: string): string[] {
  const path = isAbsolute(specifier) ? specifier : join(dirname(from), specifier);
  const extension = /\.[cm]?[jt]sx?$/.exec(path)?.[0];
  const stem = extension === undefined ? path : path.slice(0, -extension.length);
  return [
    path,
    ...(extension === undefined ? [] : (TYPED[extension] ?? []).map((typed) => stem + typed)),
    ...EXTENSIONS.map((one) => path + one),
    ...EXTENSIONS.map((one) => join(path, `index${one}`)),
  ];
}

/** The files of one reading. A module is evaluated when one of its exports is first used. */
export class Modules {
  readonly evaluator: Evaluator;
  readonly #find: FindFile;
  readonly #modules = new Map<string, Module>();

  constructor(main: SourceFile, find: FindFile) {
    this.evaluator = new Evaluator(main.text.length, (specifier, from) => this.#import(specifier, from));
    this.#find = find;
  }

  get files(): readonly string[] {
    return [...this.#modules.keys()];
  }

  load(file: SourceFile): Module {
    const cached = this.#modules.get(file.path);
    if (cached !== undefined) return cached;
    const module = new Module(file, this.evaluator);
    this.#modules.set(file.path, module);
    return module;
  }

  #import(specifier: string, from: SourceFile): ModuleValue | undefined {
    if (specifier === LIBRARY) return { type: 'module', get: libraryValue };
    if (!/^\.{1,2}(?:\/|$)/.test(specifier)) return undefined;
    const file = this.#find(importCandidates(specifier, from.path));
    if (file?.program === undefined) return undefined;
    if (!this.#modules.has(file.path)) this.evaluator.limit.spend('letter', file.text.length);
    const module = this.load(file);
    return { type: 'module', get: (name) => module.get(name) };
  }
}

function libraryValue(name: string): Value {
  const libraryName = LIBRARY_NAMES.find((one) => one === name);
  if (libraryName !== undefined) return { type: 'library', name: libraryName };
  const made = NODE_FUNCTIONS.get(name);
  if (made !== undefined) return { type: 'library', name: made, isFunction: true };
  return { type: 'unknown', reason: `\`${name}\` of ${LIBRARY} is only known at run time`, origin: undefined };
}

/** One file with its names and exports. */
export class Module {
  readonly file: SourceFile;
  readonly scope: Scope;
  readonly #evaluator: Evaluator;
  readonly #exports = new Map<string, () => Value>();
  readonly #stars: (() => ModuleValue | undefined)[] = [];
  readonly #asked = new Set<string>();
  #isFollowed = false;

  constructor(file: SourceFile, evaluator: Evaluator) {
    this.file = file;
    this.scope = createScope({ file });
    this.#evaluator = evaluator;
  }

  /** Evaluates the top level of the file. */
  follow(): void {
    if (this.#isFollowed) return;
    this.#isFollowed = true; // set first, because modules may import each other
    const { program } = this.file;
    if (program === undefined) return;
    for (const statement of program.body) this.#declare(statement);
    this.#evaluator.branches.apart(() => this.#evaluator.execute(program.body, this.scope));
  }

  /** The value that the file exports under a name. */
  get(name: string): Value {
    this.follow();
    if (this.#asked.has(name)) return this.#unread(name); // files that re-export a name from each other
    this.#asked.add(name);
    try {
      const exported = this.#exports.get(name);
      if (exported !== undefined) return exported();
      for (const star of this.#stars) {
        const value = star()?.get(name);
        if (value !== undefined && value.type !== 'unknown') return value;
      }
      return this.#unread(name);
    } finally {
      this.#asked.delete(name);
    }
  }

  #local(name: string): Value {
    const cell = this.scope.cells.get(name);
    const value = cell === undefined ? undefined : this.#evaluator.branches.read(cell);
    return value ?? this.#unread(name);
  }

  #unread(name: string): Value {
    const reason = `\`${name}\` of ${this.file.path} has no value known from the source`;
    return { type: 'unknown', reason, origin: undefined };
  }

  #declare(statement: t.Statement): void {
    if (statement.type === 'ImportDeclaration') this.#declareImport(statement);
    if (statement.type === 'ExportAllDeclaration') {
      this.#stars.push(() => this.#evaluator.importModule(statement.source.value, this.file));
    }
    if (statement.type === 'ExportDefaultDeclaration') this.#exports.set('default', () => this.#local('default'));
    if (statement.type !== 'ExportNamedDeclaration') return;
    const { declaration } = statement;
    const names = given(declaration) ? boundNames(declaration) : [];
    for (const name of names) this.#exports.set(name, () => this.#local(name));
    for (const specifier of statement.specifiers) {
      const exported = keyName(specifier.exported, false);
      if (exported === undefined) continue;
      const { source } = statement;
      if (specifier.type === 'ExportNamespaceSpecifier') {
        if (given(source)) this.#exports.set(exported, () => this.#importOf(source.value, undefined, specifier));
      } else if (specifier.type === 'ExportSpecifier') {
        const local = keyName(specifier.local, false) ?? exported;
        const value = (): Value =>
          !given(source) ? this.#local(local) : this.#importOf(source.value, local, specifier);
        this.#exports.set(exported, value);
      }
    }
  }

  #declareImport({ source, specifiers, importKind }: t.ImportDeclaration): void {
    if (importKind === 'type') return;
    for (const specifier of specifiers) {
      const { name } = specifier.local;
      let imported: string | undefined;
      if (specifier.type === 'ImportDefaultSpecifier') imported = 'default';
      else if (specifier.type === 'ImportSpecifier') imported = keyName(specifier.imported, false);
      const resolve = (): Value => {
        const value = this.#importOf(source.value, imported, specifier);
        if (value.type === 'instance') value.references.push({ text: name, scope: this.scope });
        return value;
      };
      this.scope.cells.set(name, createCell(undefined, resolve));
    }
  }

  #importOf(specifier: string, name: string | undefined, node: t.Node): Value {
    const module = this.#evaluator.importModule(specifier, this.file);
    if (module === undefined) {
      const why = specifier.startsWith('.')
        ? `comes from ${specifier}, which cannot be read`
        : `comes from the package ${specifier}, which is not read`;
      return unknown(this.file, node, why);
    }
    return name === undefined ? module : module.get(name);
  }
}
