import { createHash } from 'node:crypto';
import type { FlowFile, FlowNode, SourceRange } from './graph.ts';

type SourceHashes = Readonly<Record<string, string>>;

/**
 * A hash of the source of each node (its creation and its class) by `flow/node`, their ids in the graph.
 *
 * @param textOf returns the text of a file in the graph; nodes of files without text are left out.
 */
export function sourceHashes({ flows }: FlowFile, textOf: (file: string) => string | undefined): SourceHashes {
  const hashes: Record<string, string> = {};
  for (const flow of flows) {
    for (const node of flow.nodes) {
      const texts = rangesOf(node).map(({ file, start, end }) => textOf(file)?.slice(start.offset, end.offset));
      if (texts.includes(undefined)) continue;
      hashes[`${flow.id}/${node.id}`] = createHash('sha256').update(texts.join('\n')).digest('base64url').slice(0, 22);
    }
  }
  return hashes;
}

/** Classes of the library have no source here, and inherited hooks are outside the class. */
function rangesOf({ ranges }: FlowNode): readonly SourceRange[] {
  const { instance, class: own, prep, exec, post } = ranges;
  return [instance, own, prep, exec, post].filter((range) => range !== undefined);
}
