import { AppError } from '../../core/errors.ts';
import type { FlowFile, FlowGraph } from '../../flows/graph/graph.ts';
import { graphToMermaid } from '../../flows/drawing/graphToMermaid.ts';
import { graphToSvg } from '../../flows/drawing/graphToSvg.ts';
import { mergeExact } from '../../flows/graph/mergeExact.ts';
import { readByRunning } from '../../flows/run/process/readByRunning.ts';
import { layoutFlow } from '../../flows/drawing/flowLayout.ts';
import type { Context } from '../command/context.ts';
import type { FlowGraphFlags } from './flowFlags.ts';
import { readFlowFile } from './flowFile.ts';

/** `farwharf flow graph`: the flows of a file, read without running it. JSON: the file with all its graphs. */
export async function printFlowGraph(context: Context, argument: string, flags: FlowGraphFlags): Promise<void> {
  const { terminal } = context;
  const read = await (flags.run ? readByRunningToo(context, argument, flags.env) : readFlowFile(argument));
  const format = flags.format ?? (terminal.isJson ? 'json' : 'mermaid');
  if (read.syntaxError !== undefined) {
    const { message, range } = read.syntaxError;
    terminal.note(`${read.file}:${range.start.line + 1}:${range.start.column + 1}: ${message}`);
  }
  for (const { reason, range } of read.unread) {
    terminal.note(`${range.file}:${range.start.line + 1}:${range.start.column + 1}: ${reason}`);
  }
  const text = format === 'json' ? JSON.stringify(read, undefined, 2) : textOf(read, flags.flow, format);
  if (!terminal.json(format === 'json' ? read : { [format]: text })) terminal.answerText(text.trimEnd());
}

/** Combines the graphs from the source with what only loading the file reveals. */
async function readByRunningToo(
  { program, env, signal }: Context,
  argument: string,
  variables: readonly string[] | undefined,
): Promise<FlowFile> {
  const read = await readFlowFile(argument);
  const request = { file: read.file, cwd: process.cwd(), env, variables };
  return mergeExact(read, await readByRunning(program.flowRuntime, request, signal));
}

function textOf(read: FlowFile, wanted: string | undefined, format: 'mermaid' | 'svg'): string {
  const graph = chooseFlow(read, wanted);
  if (format === 'mermaid') return graphToMermaid(graph, read.flows);
  return graphToSvg(layoutFlow(graph, { flows: read.flows }));
}

/** The flow of that name; without a name, the only flow that is not nested in another. */
function chooseFlow({ file, flows }: FlowFile, wanted: string | undefined): FlowGraph {
  const nested = new Set(flows.flatMap(({ nodes }) => nodes.map(({ flow }) => flow)));
  const outer = flows.filter(({ id }) => !nested.has(id));
  const candidates = wanted === undefined ? outer : flows.filter(({ id, label }) => id === wanted || label === wanted);
  const [first] = candidates;
  const names = flows.map(({ id }) => id).join(', ');
  if (first === undefined) {
    const what = wanted === undefined ? 'contains no flow' : `has no flow ${wanted}`;
    throw new AppError('bad-input', `${file} ${what}. Its flows: ${names || 'none'}.`);
  }
  if (candidates.length > 1)
    throw new AppError('bad-input', `${file} has several flows. Choose one with --flow: ${names}.`);
  return first;
}
