import { createHash } from 'node:crypto';
import type * as t from '@babel/types';
import { importCandidates, type FindFile } from '../reading/modules.ts';
import { endOf, type SourceFile, startOf } from '../syntax/sourceFile.ts';
import { ModuleNames } from './moduleNames.ts';
import { referencesIn } from './references.ts';

/** A hash of the reached code in each file, by path. */
export type ReachedFiles = ReadonlyMap<string, string>;

/** A piece of code, and the file that it is in. */
export interface Code {
  readonly file: SourceFile;
  readonly node: t.Node;
}

// More than any step of a real flow reaches. Code beyond it is not followed.
const MAX_PIECES = 20_000;

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
