import { FlowProject } from '../../../src/flows/project/flowProject.ts';
import type { FileHost } from '../../../src/flows/project/parsedFiles.ts';
import type { FlowFile, FlowGraph } from '../../../src/flows/graph/graph.ts';

/** A host whose files are those given; every one is counted when it is read. */
export function memoryHost(files: Record<string, string>): FileHost & { readonly reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    version: (file) => files[file],
    read(file) {
      reads.push(file);
      return files[file];
    },
  };
}

/** Reads `/flows/main.ts` with other files beside it. */
export function readText(text: string, others: Record<string, string> = {}): FlowFile {
  const files = { '/flows/main.ts': text, ...others };
  return new FlowProject(memoryHost(files)).read('/flows/main.ts', text);
}

/** The edges of a flow in short: `a -done-> b`; the end is `.`. */
export function edgesOf({ edges }: FlowGraph): string[] {
  return edges.map(({ source, action, target }) => `${source} -${action}-> ${target ?? '.'}`);
}

export function onlyFlow({ flows }: FlowFile): FlowGraph {
  const [flow] = flows;
  if (flow === undefined || flows.length > 1) throw new Error(`There are ${flows.length} flows.`);
  return flow;
}

/** The actions of each node in short: `a: done|again`, with `?` where there may be others. */
export function actionsOf({ nodes }: FlowGraph): string[] {
  return nodes.map(({ id, actions: { known, unknown } }) => {
    const names = known.map(({ action }) => action).sort();
    return `${id}: ${[...names, ...(unknown === undefined ? [] : ['?'])].join('|')}`;
  });
}
