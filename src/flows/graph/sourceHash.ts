import { createHash } from 'node:crypto';
import type { FlowFile, FlowNode, SourceRange } from './graph.ts';

type SourceHashes = Readonly<Record<string, string>>;

/**
 * A hash of the source of each node: how it is made, and its class. The names are `flow/node`, by their ids in the graph.
 *
 * @param textOf the text of a file that the graph names; a node whose file has none is left out.
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

/** The nodes, as `flow/node`, whose source is another than it was, or which are new. */
export function editedSince(before: SourceHashes, now: SourceHashes): readonly string[] {
  return Object.keys(now).filter((name) => before[name] !== now[name]);
}

/** A class of the library has no source of its own here, and hooks that are inherited lie outside of the class. */
function rangesOf({ ranges }: FlowNode): readonly SourceRange[] {
  const { instance, class: own, prep, exec, post } = ranges;
  return [instance, own, prep, exec, post].filter((range) => range !== undefined);
}
