import { AppError } from '../../core/errors.ts';
import type { FlowFile, FlowGraph } from '../../flows/graph/graph.ts';
import { graphToMermaid } from '../../flows/layout/graphToMermaid.ts';
import { graphToSvg } from '../../flows/layout/graphToSvg.ts';
import { diskHost } from '../../flows/project/diskHost.ts';
import { mergeExact } from '../../flows/graph/mergeExact.ts';
import { readByRunning } from '../../flows/run/start/readByRunning.ts';
import { layoutFlow } from '../../flows/layout/flowLayout.ts';
import type { Context } from '../command/commandContext.ts';
import type { FlowGraphFlags } from './flowFlags.ts';
import { readFlowFile, withoutFlows } from './flowFile.ts';

/** `farwharf flow graph`: the flows of a file, read without running it. JSON: the file with all its graphs. */
export async function printFlowGraph(context: Context, argument: string, flags: FlowGraphFlags): Promise<void> {
  const { terminal } = context;
  const read = await (flags.run ? readByRunningToo(context, argument, flags.env) : readFlowFile(argument, context));
  const format = flags.format ?? (terminal.isJson ? 'json' : 'mermaid');
  if (read.syntaxError !== undefined) {
    const { message, range } = read.syntaxError;
    terminal.note(`${read.file}:${range.start.line + 1}:${range.start.column + 1}: ${message}`);
  }
  const flow = format === 'json' ? undefined : chooseFlow(read, flags.flow, defaultExport(read.file));
  for (const { reason, range } of flow?.unread ?? read.unread) {
    terminal.note(`${range.file}:${range.start.line + 1}:${range.start.column + 1}: ${reason}`);
  }
  const text = flow === undefined ? JSON.stringify(read, undefined, 2) : textOf(read, flow, format);
  if (!terminal.json(flow === undefined ? read : { [format]: text })) terminal.answerText(text.trimEnd());
}

/** Combines the graphs from the source with what only loading the file reveals. */
async function readByRunningToo(
  context: Context,
  argument: string,
  variables: readonly string[] | undefined,
): Promise<FlowFile> {
  const { program, cwd, env, signal } = context;
  const read = await readFlowFile(argument, context);
  const request = { file: read.file, cwd, env, variables };
  return mergeExact(read, await readByRunning(program.flowRuntime, request, signal));
}

function textOf(read: FlowFile, graph: FlowGraph, format: 'json' | 'mermaid' | 'svg'): string {
  if (format === 'mermaid') return graphToMermaid(graph, read.flows);
  return graphToSvg(layoutFlow(graph, { flows: read.flows }));
}

/** The name of the flow that a file exports as its default, which is also the one that runs. */
function defaultExport(file: string): string | undefined {
  return /^export\s+default\s+([\w$]+)\s*;?\s*$/m.exec(diskHost.read(file) ?? '')?.[1];
}

/** The flow of that name; without a name, the default export, or else the only flow that is not nested in another. */
function chooseFlow({ file, flows }: FlowFile, name: string | undefined, byDefault: string | undefined): FlowGraph {
  const nested = new Set(flows.flatMap(({ nodes }) => nodes.map(({ flow }) => flow)));
  const outer = flows.filter(({ id }) => !nested.has(id));
  const preferred = outer.filter(({ id }) => id === byDefault);
  const unnamed = preferred.length > 0 ? preferred : outer;
  const candidates = name === undefined ? unnamed : flows.filter(({ id, label }) => id === name || label === name);
  const [first] = candidates;
  const names = flows.map(({ id }) => id).join(', ');
  if (flows.length === 0) throw new AppError('bad-input', `${file} contains no flow. ${withoutFlows(file)}`);
  if (first === undefined) {
    const what = name === undefined ? 'contains no flow' : `has no flow ${name}`;
    throw new AppError('bad-input', `${file} ${what}. Its flows: ${names}.`);
  }
  if (candidates.length > 1)
    throw new AppError('bad-input', `${file} has several flows. Choose one with --flow: ${names}.`);
  return first;
}
