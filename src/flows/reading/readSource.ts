import type { FlowFile, ModelUse, TextEdit, Unread } from '../graph/graph.ts';
import { ReadingLimitError } from '../interpreter/readingLimit.ts';
import type { Origin, Value } from '../interpreter/values.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';
import { GraphBuilder, type ReadFlow } from './graphBuilder.ts';
import { type FindFile, Modules } from './modules.ts';
import { followFile } from './followFile.ts';

// A file without any of these makes no flow and is not evaluated.
const MAY_MAKE_FLOWS = /farwharf\/agents|\bconnect\s*\(|\bFlow\b|\.start\s*=|\.run\s*\(/;

/** The result of reading one file, with what edits need. */
export interface FlowReading {
  readonly result: FlowFile;
  readonly source: SourceFile;
  readonly flows: readonly ReadFlow[];
}

/** The edits that make a change, or why it cannot be made safely. */
export type EditResult =
  | { readonly ok: true; readonly edits: readonly TextEdit[] }
  | { readonly ok: false; readonly reason: string };

/** Reads the flows of a parsed file without running it; `find` supplies the files that it imports. */
export function readSource(source: SourceFile, find: FindFile): FlowReading {
  const modules = new Modules(source, find);
  const { evaluator } = modules;
  const build = (): ReadFlow[] => new GraphBuilder(evaluator).build(source.path);
  let flows: readonly ReadFlow[] = [];
  if (MAY_MAKE_FLOWS.test(source.text)) {
    try {
      evaluator.limit.spend('letter', source.text.length);
      followFile(modules.load(source), evaluator);
      flows = build();
    } catch (error) {
      // Only generated code nests expressions thousands of levels deep. The flows found before them are shown.
      if (!(error instanceof RangeError) && !(error instanceof ReadingLimitError)) throw error;
      evaluator.limit.exceed('level');
      flows = buildWithin(build);
    }
  }
  const { unread, models } = evaluator.findings;
  const hidden: Unread[] = [...unread.values()]
    .filter(({ origin }) => origin.file === source)
    .map(({ origin, reason }) => ({ reason, range: origin.file.range(origin.node) }));
  const { problem } = evaluator.limit;
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
