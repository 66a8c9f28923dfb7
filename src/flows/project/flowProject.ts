import { setNewest } from '../../core/setNewest.ts';
import { type FlowSymbol, renameSymbol, symbolAt } from '../language/renameSymbol.ts';
import { applyEdits, planEdit } from '../editing/editFlow.ts';
import { type GraphShape, isSameShape, shapeOf } from '../editing/graphShape.ts';
import { refuse, tryEdit } from '../editing/sourceMap.ts';
import type { FlowOperation } from '../graph/flowOperation.ts';
import type { FlowFile, TextEdit } from '../graph/graph.ts';
import type { StepReach } from './changedSteps.ts';
import { stepReach } from './stepReach.ts';
import { type EditResult, type FlowReading, readSource } from '../reading/readSource.ts';
import { SourceFile } from '../syntax/sourceFile.ts';
import { type FileHost, ParsedFiles } from './parsedFiles.ts';

// An editor shows a few flow files at a time. A reading keeps the values of its whole evaluation, so old ones are dropped.
const MAX_READINGS = 50;

interface ResolvedImport {
  readonly candidates: readonly string[];
  readonly source: SourceFile | undefined;
}

/** A reading with the files it imported; it is valid while those imports still resolve to the same texts. */
interface CachedReading {
  readonly reading: FlowReading;
  readonly imports: readonly ResolvedImport[];
}

/**
 * Reads flow files without running them. A file is evaluated again only after its own text or that of a file it imports
 * has changed, so that after a keystroke the canvas, diagnostics, completions and lenses share one reading.
 */
export class FlowProject {
  readonly #host: FileHost;
  readonly #files: ParsedFiles;
  /** For each file, the last reading of a text that could be parsed; the one used last is at the end. */
  readonly #readings = new Map<string, CachedReading>();
  #evaluations = 0;

  constructor(host: FileHost) {
    this.#host = host;
    this.#files = new ParsedFiles(host);
  }

  /** How many texts were parsed so far. */
  get parsedFiles(): number {
    return this.#files.count;
  }

  /** How many readings were made so far, rather than found in the cache. */
  get evaluations(): number {
    return this.#evaluations;
  }

  /** Reads the flows of a file. While the text does not parse, returns the flows of the last text that did, with the error. */
  read(file: string, text: string): FlowFile {
    return this.readSource(file, text).result;
  }

  /** Like `read`, with what edits need. */
  readSource(file: string, text: string): FlowReading {
    const cached = this.#readings.get(file);
    if (cached?.reading.source.text === text && this.#isCurrent(cached)) return this.#keep(file, cached);
    const source = this.#files.parse(file, text, text);
    return source.program === undefined ? this.#readBroken(source) : this.#keep(file, this.#evaluate(source));
  }

  /**
   * The smallest edits of the source that make an operation. They are tried first: an edit whose result would not be
   * exactly the requested flow is refused.
   */
  edit(file: string, text: string, operation: FlowOperation): EditResult {
    const reading = this.readSource(file, text);
    return tryEdit(() => {
      const textOf = (path: string): string => (path === file ? text : (this.#host.read(path) ?? ''));
      const { edits, shapes } = planEdit(reading, operation, textOf);
      this.#try(reading.source, edits, shapes);
      return edits;
    });
  }

  /** The action or key at an offset, if it can be renamed. */
  symbol(file: string, text: string, offset: number): FlowSymbol | undefined {
    return symbolAt(this.readSource(file, text), offset);
  }

  /** Renames the action or key at an offset, in the file and in all files it imports. Refused if there is nothing to rename. */
  rename(file: string, text: string, offset: number, newName: string): EditResult {
    const reading = this.readSource(file, text);
    const symbol = symbolAt(reading, offset);
    if (symbol === undefined) return { ok: false, reason: 'Only actions and keys of the shared state can be renamed.' };
    return renameSymbol(reading, symbol, newName, (path) =>
      path === file ? reading.source : this.#files.find([path]),
    );
  }

  /** The code that each step of the file's flows can reach. */
  reach(file: string, text: string): StepReach {
    return stepReach(this.read(file, text), (candidates) => this.#files.find(candidates));
  }

  /** Forgets a file that was closed or deleted. */
  forget(file: string): void {
    this.#readings.delete(file);
    this.#files.forget(file);
  }

  #evaluate(source: SourceFile): CachedReading {
    this.#evaluations += 1;
    // The first candidate is the import's own path, and the others follow from it.
    const imports = new Map<string | undefined, ResolvedImport>();
    const reading = readSource(source, (candidates) => {
      const entry = imports.get(candidates[0]) ?? { candidates, source: this.#files.find(candidates) };
      imports.set(candidates[0], entry);
      return entry.source;
    });
    return { reading, imports: [...imports.values()] };
  }

  #isCurrent({ imports }: CachedReading): boolean {
    return imports.every(({ candidates, source }) => this.#files.find(candidates) === source);
  }

  #keep(file: string, cached: CachedReading): FlowReading {
    setNewest(this.#readings, file, cached, MAX_READINGS);
    return cached.reading;
  }

  #readBroken(source: SourceFile): FlowReading {
    const { path: file, syntaxError } = source;
    const last = this.#readings.get(file)?.reading;
    const empty = { file, flows: [], unread: [], models: [], dependencies: [] };
    const result: FlowFile = { ...(last?.result ?? empty), syntaxError, isStale: last !== undefined };
    return { result, source: last?.source ?? source, flows: last?.flows ?? [] };
  }

  #try(source: SourceFile, edits: readonly TextEdit[], shapes: ReadonlyMap<string, GraphShape>): void {
    const edited = new Map<string, SourceFile>();
    for (const path of new Set([source.path, ...edits.map(({ range }) => range.file)])) {
      const before = path === source.path ? source.text : (this.#host.read(path) ?? '');
      const fileEdits = edits.filter(({ range }) => range.file === path);
      edited.set(path, new SourceFile(path, applyEdits(before, fileEdits)));
    }
    const main = edited.get(source.path) ?? source;
    const after = readSource(main, (candidates) => {
      const changed = candidates.find((path) => edited.has(path));
      return changed === undefined ? this.#files.find(candidates) : edited.get(changed);
    });
    const editedShapes = new Map(after.flows.map(({ graph }) => [graph.id, shapeOf(graph)]));
    const isRight = [...shapes].every(([id, shape]) => {
      const editsOfFile = editedShapes.get(id);
      return editsOfFile !== undefined && isSameShape(editsOfFile, shape);
    });
    if (main.syntaxError !== undefined || !isRight) {
      refuse('This change cannot be made in one step. Make it in the source.');
    }
  }
}

/** Reads the flows of a file once, without running it. To read again, keep a FlowProject: it caches. */
export function readFlows(file: string, text: string, host: FileHost): FlowFile {
  return new FlowProject(host).read(file, text);
}
