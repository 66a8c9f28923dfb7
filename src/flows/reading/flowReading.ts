import type { FlowFile, TextEdit } from '../graph/graph.ts';
import type { ReadFlow } from './graphBuilder.ts';
import type { SourceFile } from '../syntax/sourceFile.ts';

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
