import type { FlowGraph } from '../graph/graph.ts';
import { pathBelow, stubsOf } from './flowLayout.ts';

/**
 * The flow as a Mermaid flowchart, which GitHub, GitLab and most wikis render, with nested flows as subgraphs.
 * Unconnected actions are dotted, as on the canvas.
 */
export function graphToMermaid(graph: FlowGraph, flows: readonly FlowGraph[]): string {
  const writer = new MermaidWriter(flows);
  writer.addFlow(graph, '', '  ', [graph.id]);
  return `flowchart TD\n${writer.lines.join('\n')}\n`;
}

class MermaidWriter {
  readonly lines: string[] = [];
  readonly #flows: readonly FlowGraph[];
  readonly #names = new Map<string, string>();

  constructor(flows: readonly FlowGraph[]) {
    this.#flows = flows;
  }

  addFlow(graph: FlowGraph, path: string, indent: string, ancestors: readonly string[]): void {
    for (const { id, className, flow } of graph.nodes) {
      const place = pathBelow(path, id);
      const name = this.#nameOf(place);
      const nested = ancestors.includes(flow ?? '') ? undefined : this.#flows.find((other) => other.id === flow);
      if (nested === undefined) {
        const [open, close] = id === graph.start ? ['([', '])'] : ['[', ']'];
        this.lines.push(`${indent}${name}${open}${quoted(className)}${close}`);
      } else {
        this.lines.push(`${indent}subgraph ${name}[${quoted(nested.label)}]`);
        this.addFlow(nested, place, `${indent}  `, [...ancestors, nested.id]);
        this.lines.push(`${indent}end`);
      }
    }
    for (const { id, source, target, action } of graph.edges) {
      const from = this.#nameOf(pathBelow(path, source));
      const to =
        target === null ? `${this.#nameOf(`${path} end ${id}`)}((" "))` : this.#nameOf(pathBelow(path, target));
      this.lines.push(`${indent}${from} -->|${quoted(action)}| ${to}`);
    }
    for (const { node, action } of stubsOf(graph)) {
      const to = `${this.#nameOf(`${path} stub ${node} ${action}`)}["?"]`;
      this.lines.push(`${indent}${this.#nameOf(pathBelow(path, node))} -.->|${quoted(action)}| ${to}`);
    }
  }

  // IDs may contain any characters; Mermaid takes letters and digits, and reserves words such as `end`.
  #nameOf(place: string): string {
    const known = this.#names.get(place);
    if (known !== undefined) return known;
    const name = `n${this.#names.size + 1}`;
    this.#names.set(place, name);
    return name;
  }
}

/** A Mermaid string, with Mermaid's entities for characters that would end it or start another construct. */
function quoted(text: string): string {
  return `"${text.replace(/["#&<>|`\n]/g, (character) => `#${character.charCodeAt(0)};`)}"`;
}
