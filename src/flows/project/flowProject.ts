import { AppError } from '../../core/errors.ts';
import { type FlowSymbol, renameSymbol, symbolAt } from '../assist/renameSymbol.ts';
import { applyEdits, planEdit } from '../editing/editFlow.ts';
import { type GraphShape, isSameShape, shapeOf } from '../editing/graphShape.ts';
import type { FlowOperation } from '../graph/flowOperation.ts';
import type { EditResult, FlowReading } from '../reading/flowReading.ts';
import type { FlowFile, ModelUse, TextEdit, Unread } from '../graph/graph.ts';
import { GraphBuilder, type ReadFlow } from '../reading/graphBuilder.ts';
import { Modules } from '../reading/modules.ts';
import { followFile } from '../reading/program.ts';
import { ReadingLimitError } from '../interpreter/values/readingBudget.ts';
import { SourceFile } from '../syntax/sourceFile.ts';
import type { Origin, Value } from '../interpreter/values/values.ts';

/** Gives the reader other files than the one it is asked about. */
export interface FlowHost {
  /** Something that changes whenever the text of the file does (a document's version, a time of change); undefined where there is no file. */
  version(file: string): string | number | undefined;
  read(file: string): string | undefined;
}

// Most files that an editor shows have none of these, and are not followed at all.
const MAY_MAKE_FLOWS = /farwharf\/agents|\bconnect\s*\(|\bFlow\b|\.start\s*=|\.run\s*\(/;

// Of files that were read for others, those parsed last stay parsed.
const MAX_PARSED = 500;

interface Parsed {
  readonly version: string | number;
  readonly source: SourceFile;
}

/**
 * Reads flow files without running them. Parsed files are kept by their version, so that after a keystroke one file is parsed
 * and the flows are followed through the others as they are.
 */
export class FlowProject {
  readonly #host: FlowHost;
  readonly #parsed = new Map<string, Parsed>();
  /** The last reading of each file whose text could be parsed. */
  readonly #good = new Map<string, FlowReading>();

  constructor(host: FlowHost) {
    this.#host = host;
  }

  /** How many files were parsed so far. */
  parsedFiles = 0;

  /** Reads the flows of a file. While its text does not parse, gives those of the last text that did, with the error. */
  read(file: string, text: string): FlowFile {
    return this.readSource(file, text).result;
  }

  /** As `read`, with what edits need. */
  readSource(file: string, text: string): FlowReading {
    const source = this.#parse(file, text, text);
    if (source.program === undefined) return this.#readBroken(source);
    const reading = readProgram(source, (candidates) => this.#find(candidates));
    this.#good.set(file, reading);
    return reading;
  }

  /**
   * The smallest edits of the source that bring an operation about. They are tried first: where the source would not give
   * exactly the flow that was asked for, the edit is refused.
   */
  edit(file: string, text: string, operation: FlowOperation): EditResult {
    const reading = this.readSource(file, text);
    try {
      const { edits, shapes } = planEdit(reading, operation, (path) =>
        path === file ? text : (this.#host.read(path) ?? ''),
      );
      this.#try(reading.source, edits, shapes);
      return { ok: true, edits };
    } catch (error) {
      if (error instanceof AppError && error.code === 'refused') return { ok: false, reason: error.message };
      throw error;
    }
  }

  /** The action or key at a place, which can be renamed. */
  symbol(file: string, text: string, offset: number): FlowSymbol | undefined {
    return symbolAt(this.readSource(file, text), offset);
  }

  /** Renames the action or key at a place, in all files that were read for it. Refused where there is nothing to rename. */
  rename(file: string, text: string, offset: number, newName: string): EditResult {
    const reading = this.readSource(file, text);
    const symbol = symbolAt(reading, offset);
    if (symbol === undefined) return { ok: false, reason: 'There is no action and no key of the shared state here.' };
    return renameSymbol(reading, symbol, newName, (path) => (path === file ? reading.source : this.#find([path])));
  }

  #try(source: SourceFile, edits: readonly TextEdit[], shapes: ReadonlyMap<string, GraphShape>): void {
    const edited = new Map<string, SourceFile>();
    for (const path of new Set([source.path, ...edits.map(({ range }) => range.file)])) {
      const before = path === source.path ? source.text : (this.#host.read(path) ?? '');
      edited.set(
        path,
        new SourceFile(
          path,
          applyEdits(
            before,
            edits.filter(({ range }) => range.file === path),
          ),
        ),
      );
    }
    const main = edited.get(source.path) ?? source;
    const find = (candidates: readonly string[]): SourceFile | undefined => {
      const changed = candidates.find((path) => edited.has(path));
      return changed === undefined ? this.#find(candidates) : edited.get(changed);
    };
    const after = new Map(readProgram(main, find).flows.map(({ graph }) => [graph.id, shapeOf(graph)]));
    const isRight = [...shapes].every(([id, shape]) => {
      const made = after.get(id);
      return made !== undefined && isSameShape(made, shape);
    });
    if (main.syntaxError !== undefined || !isRight) {
      throw new AppError('refused', 'The source does not allow this change in one step. Make it in the source.');
    }
  }

  /** Forgets a file that was closed or deleted. */
  forget(file: string): void {
    this.#good.delete(file);
    this.#parsed.delete(file);
  }

  #readBroken(source: SourceFile): FlowReading {
    const { path: file, syntaxError } = source;
    const last = this.#good.get(file);
    const empty = { file, flows: [], unread: [], models: [], dependencies: [] };
    const result: FlowFile = { ...(last?.result ?? empty), syntaxError, isStale: last !== undefined };
    return { result, source: last?.source ?? source, flows: last?.flows ?? [] };
  }

  #find(candidates: readonly string[]): SourceFile | undefined {
    for (const file of candidates) {
      const version = this.#host.version(file);
      if (version === undefined) continue;
      const known = this.#parsed.get(file);
      if (known?.version === version) return known.source;
      const text = this.#host.read(file);
      if (text !== undefined) return this.#parse(file, text, version);
    }
    return undefined;
  }

  #parse(file: string, text: string, version: string | number): SourceFile {
    const known = this.#parsed.get(file);
    if (known?.version === version || known?.source.text === text) return known.source;
    this.parsedFiles += 1;
    const source = new SourceFile(file, text);
    this.#parsed.delete(file);
    this.#parsed.set(file, { version, source });
    for (const [oldest] of this.#parsed) {
      if (this.#parsed.size <= MAX_PARSED) break;
      this.#parsed.delete(oldest);
    }
    return source;
  }
}

function readProgram(source: SourceFile, find: (candidates: readonly string[]) => SourceFile | undefined): FlowReading {
  const modules = new Modules(source, find);
  const { evaluator } = modules;
  const build = (): ReadFlow[] => new GraphBuilder(evaluator).build(source.path);
  let flows: readonly ReadFlow[] = [];
  if (MAY_MAKE_FLOWS.test(source.text)) {
    try {
      evaluator.budget.spend('letter', source.text.length);
      followFile(modules.load(source), evaluator);
      flows = build();
    } catch (error) {
      // Expressions that are nested thousands deep are machines' work. What was found before them is shown.
      if (!(error instanceof RangeError) && !(error instanceof ReadingLimitError)) throw error;
      evaluator.budget.exceed('level');
      flows = buildWithin(build);
    }
  }
  const { unread, models } = evaluator.findings;
  const hidden: Unread[] = [...unread.values()]
    .filter(({ origin }) => origin.file === source)
    .map(({ origin, reason }) => ({ reason, range: origin.file.range(origin.node) }));
  const { problem } = evaluator.budget;
  if (problem !== undefined) hidden.push({ reason: problem, range: source.rangeOf(0, 0) });
  const result: FlowFile = {
    file: source.path,
    flows: flows.map(({ graph }) => graph),
    unread: hidden,
    models: [...models.values()].filter(({ origin }) => origin.file === source).map(modelUse),
    syntaxError: source.syntaxError,
    isStale: false,
    dependencies: modules.files.filter((path) => path !== source.path),
  };
  return { result, source, flows };
}

function buildWithin(build: () => ReadFlow[]): readonly ReadFlow[] {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [];
  }
}

/** Reads the flows of a file without running it. A caller that reads again keeps a FlowProject, which parses less. */
export function readFlows(file: string, text: string, host: FlowHost): FlowFile {
  return new FlowProject(host).read(file, text);
}

function modelUse({ origin, options }: { readonly origin: Origin; readonly options: Value }): ModelUse {
  const field = (name: string): ModelUse['model'] => {
    const value = options.type === 'object' ? options.fields.get(name) : undefined;
    if (value?.type !== 'literal' || typeof value.value !== 'string') return undefined;
    const { file, node } = value.origin ?? origin;
    return { value: value.value, range: file.range(node) };
  };
  const baseUrl = options.type === 'object' ? options.fields.get('baseUrl') : undefined;
  const isOpen = options.type === 'object' ? options.isOpen : options.type !== 'undefined';
  return {
    range: origin.file.range(origin.node),
    provider: field('provider'),
    model: field('model'),
    hasBaseUrl: isOpen || (baseUrl !== undefined && baseUrl.type !== 'undefined'),
  };
}
