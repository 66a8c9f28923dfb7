import { repetitionOf, titleOf } from './drawing.ts';
import type { FlowGraph } from '../graph/graph.ts';
import { labelOf, pathBelow, singleExits, stubsOf } from './flowLayout.ts';

/**
 * The flow as a Mermaid flowchart, which GitHub, GitLab and most wikis render, with nested flows as subgraphs.
 * Unconnected actions are dotted, as on the canvas.
 */
export function graphToMermaid(outermost: FlowGraph, flows: readonly FlowGraph[]): string {
  const names = new Map<string, string>();
  // IDs may contain any characters; Mermaid takes letters and digits, and reserves words such as `end`.
  const nameOf = (place: string): string => {
    const name = names.get(place) ?? `n${names.size + 1}`;
    names.set(place, name);
    return name;
  };
  function* linesOf(graph: FlowGraph, path: string, indent: string, ancestors: readonly string[]): Generator<string> {
    for (const node of graph.nodes) {
      const { id, flow } = node;
      const place = pathBelow(path, id);
      const name = nameOf(place);
      const nested = ancestors.includes(flow ?? '') ? undefined : flows.find((other) => other.id === flow);
      if (nested === undefined) {
        const [open, close] = id === graph.start ? ['([', '])'] : ['[', ']'];
        yield `${indent}${name}${open}${quoted(titleOf(node) + repetitionOf(node))}${close}`;
      } else {
        yield `${indent}subgraph ${name}[${quoted(nested.label + repetitionOf(node))}]`;
        yield* linesOf(nested, place, `${indent}  `, [...ancestors, nested.id]);
        yield `${indent}end`;
      }
    }
    const single = singleExits(graph, stubsOf(graph));
    for (const { id, source, target, action } of graph.edges) {
      const from = nameOf(pathBelow(path, source));
      const to = target === null ? `${nameOf(`${path} end ${id}`)}((" "))` : nameOf(pathBelow(path, target));
      const label = labelOf(action, single.has(source));
      yield `${indent}${from} -->${label === '' ? '' : `|${quoted(action)}|`} ${to}`;
    }
    for (const { node, action } of stubsOf(graph)) {
      const to = `${nameOf(`${path} stub ${node} ${action}`)}["?"]`;
      yield `${indent}${nameOf(pathBelow(path, node))} -.->|${quoted(action)}| ${to}`;
    }
  }
  return `flowchart TD\n${[...linesOf(outermost, '', '  ', [outermost.id])].join('\n')}\n`;
}

/** A Mermaid string, with Mermaid's entities for characters that would end it or start another construct. */
function quoted(text: string): string {
  return `"${text.replace(/["#&<>|`\n]/g, (character) => `#${character.charCodeAt(0)};`)}"`;
}
