import { AppError, messageOf } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';
import { BudgetError } from '../run/budget.ts';
import { isPaused } from '../run/pause.ts';
import { type GenAiCall, inGenAiSpan } from '../run/genAiSpan.ts';
import { scopes } from '../run/runScope.ts';
import { resultText, type Tool } from '../tools/tool.ts';
import type { ChatMessage, ChatReply, ToolCall, ToolOptions, Usage } from './chatMessages.ts';

const DEFAULT_MAX_STEPS = 10;
const DEFAULT_PARALLEL = 4;

/** A call of a tool. It has an `output` or an `error`, which is what the model got as its result. */
export interface ToolStep {
  readonly name: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: string;
}

export interface ToolRun {
  readonly text: string;
  /** The given messages, then the replies and the results of tools. */
  readonly messages: readonly ChatMessage[];
  readonly steps: readonly ToolStep[];
  /** Of all requests together. */
  readonly usage: Usage;
}

export interface RunToolsOptions extends Omit<ToolOptions, 'tools'> {
  /** The most replies of the model; 10 if absent. */
  readonly maxSteps?: number | undefined;
  /** How many calls of one reply run at a time; 4 if absent. */
  readonly parallel?: number | undefined;
  /**
   * Asked before each call with checked arguments. Only `true` runs it: any other result, and an error, refuses it, which is reported to the
   * model.
   */
  readonly approve?: ((call: ApprovalCall) => boolean | Promise<boolean>) | undefined;
}

/** A call that waits for approval. */
interface ApprovalCall {
  readonly name: string;
  readonly input: unknown;
}

/** The model still called tools in its last reply. All calls have run, so the messages can be passed to `runTools` to continue. */
export class ToolLimitError extends AppError {
  readonly messages: readonly ChatMessage[];
  readonly steps: readonly ToolStep[];

  constructor(maxSteps: number, messages: readonly ChatMessage[], steps: readonly ToolStep[]) {
    const last = steps.at(-1)?.name ?? 'none';
    super(
      'limit',
      `The model still calls tools after ${maxSteps} replies (last: ${last}). Raise maxSteps, change the prompt, or continue with the messages of this error.`,
    );
    this.messages = messages;
    this.steps = steps;
  }
}

interface LoopParts {
  readonly complete: (messages: readonly ChatMessage[], extra: object) => Promise<ChatReply>;
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
  /** The name of the loop's span: the node that it runs in, or its model. */
  readonly agent: { readonly name: string; readonly provider: string; readonly model: string };
  readonly options: RunToolsOptions;
}

/**
 * Sends messages and calls the tools that the model asks for, those of one reply at once, until it replies without a call.
 *
 * @throws ToolLimitError after `maxSteps` replies, AppError `bad-input` for two tools of one name; what a request throws; the signal's reason.
 */
export function runToolLoop(first: readonly ChatMessage[], parts: LoopParts): Promise<ToolRun> {
  const { agent } = parts;
  const attributes = {
    'gen_ai.agent.name': agent.name,
    'gen_ai.provider.name': agent.provider,
    'gen_ai.request.model': agent.model,
  };
  return inGenAiSpan({ operation: 'invoke_agent', name: agent.name, attributes }, async (span) => {
    const run = await loop(first, parts);
    const { inputTokens, outputTokens } = run.usage;
    span.set({ 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens });
    return run;
  });
}

async function loop(first: readonly ChatMessage[], parts: LoopParts): Promise<ToolRun> {
  const { complete, tools, signal } = parts;
  const { approve } = parts.options;
  const options = { ...parts.options, approve: approve && inTurn(approve) };
  const { maxSteps = DEFAULT_MAX_STEPS, parallel = DEFAULT_PARALLEL, toolChoice } = options;
  const byName = new Map(tools.map((each) => [each.name, each]));
  if (byName.size < tools.length) throw new AppError('bad-input', 'Two tools have the same name. Rename one of them.');
  const extra = {
    ...(tools.length > 0 && { tools: await Promise.all(tools.map(declarationOf)) }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
  };
  const messages = [...first];
  const steps: ToolStep[] = [];
  let usage: Usage | undefined;
  for (let replies = 1; ; replies += 1) {
    const reply = await complete(messages, extra);
    usage = usage === undefined ? reply.usage : sumOf(usage, reply.usage);
    messages.push(reply.message);
    if (reply.toolCalls.length === 0) return { text: reply.content, messages, steps, usage };
    const results = await callAtOnce(reply.toolCalls, parallel, signal, (call, callSignal) =>
      inGenAiSpan(toolCall(call, byName.get(call.name)), async (span) => {
        const result = await callTool(call, byName, { ...parts, options, signal: callSignal });
        if (result.error !== undefined) span.set({ 'error.type': '_OTHER' });
        return result;
      }),
    );
    for (const [index, step] of results.entries()) {
      steps.push(step);
      const content = step.error ?? resultText(step.output);
      messages.push({ role: 'tool', tool_call_id: reply.toolCalls[index]?.id ?? '', content });
    }
    if (replies >= maxSteps) throw new ToolLimitError(maxSteps, messages, steps);
  }
}

/** Does work for each call, so many at a time, and returns the results in the order of the calls. A failure ends the work of the others. */
async function callAtOnce<T>(
  calls: readonly ToolCall[],
  parallel: number,
  outer: AbortSignal,
  work: (call: ToolCall, signal: AbortSignal) => Promise<T>,
): Promise<readonly T[]> {
  const controller = new AbortController();
  const forward = (): void => controller.abort(outer.reason);
  if (outer.aborted) forward();
  outer.addEventListener('abort', forward, { once: true });
  const results: T[] = [];
  const queue = calls.entries();
  const { signal } = controller;
  const line = async (): Promise<void> => {
    for (const [index, call] of queue) {
      results[index] = await unlessAborted(work(call, signal), signal);
      signal.throwIfAborted();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, calls.length) }, line));
    return results;
  } catch (error) {
    controller.abort(error);
    throw error;
  } finally {
    outer.removeEventListener('abort', forward);
  }
}

async function declarationOf(each: Tool): Promise<object> {
  const { name, description } = each;
  return { type: 'function', function: { name, description, parameters: await each.parameters() } };
}

/** The span of a call. It has neither arguments nor result. */
function toolCall({ id, name }: ToolCall, calledTool: Tool | undefined): GenAiCall {
  const attributes = {
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.description': calledTool?.description,
  };
  return { operation: 'execute_tool', name, attributes };
}

/** Runs one call. What goes wrong is a part of the step, so that the model can correct itself. */
async function callTool(call: ToolCall, tools: ReadonlyMap<string, Tool>, parts: LoopParts): Promise<ToolStep> {
  const startedAt = performance.now();
  const { signal } = parts;
  const { name } = call;
  let input: unknown = call.arguments;
  const end = (result: { readonly output?: unknown; readonly error?: string }): ToolStep => {
    const durationMs = performance.now() - startedAt;
    scopes.getStore()?.visit?.tool({ name, durationMs, ...(result.error !== undefined && { error: result.error }) });
    return { name, input, ...result };
  };
  try {
    const requested = tools.get(name);
    if (requested === undefined)
      return end({ error: `Error: no tool is called "${name}". Tools: ${[...tools.keys()].join(', ')}.` });
    input = parse(call.arguments);
    const prepared = await requested.prepare(input);
    if (!prepared.ok) return end({ error: `Error: the arguments do not match the schema:\n${prepared.issues}` });
    input = prepared.input;
    const refusal = await refusalOf({ name, input }, parts.options.approve);
    if (refusal !== undefined) return end({ error: refusal });
    const output = await prepared.run({ signal });
    resultText(output); // throws here, inside the step, if it is not plain data
    return end({ output });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BudgetError || isPaused(error)) throw error;
    return end({ error: `Error: ${messageOf(error)}` });
  }
}

/** One question at a time: calls of one reply run at once, but a person reads them one after another. */
function inTurn(approve: NonNullable<RunToolsOptions['approve']>): NonNullable<RunToolsOptions['approve']> {
  let last: Promise<unknown> = Promise.resolve();
  return (call) => {
    const decision = last.then(() => approve(call));
    last = decision.catch(() => {});
    return decision;
  };
}

/** Why a call may not run; undefined if it may. A program in JavaScript can return anything from `approve`. */
async function refusalOf(call: ApprovalCall, approve: RunToolsOptions['approve']): Promise<string | undefined> {
  if (approve === undefined) return undefined;
  const decision: unknown = await approve(call);
  return decision === true ? undefined : 'Error: the user refused this call.';
}

/** Services write no arguments as an empty text. */
function parse(text: string): unknown {
  try {
    return text.trim() === '' ? {} : parseJson(text);
  } catch {
    throw new SyntaxError('the arguments are not valid JSON.');
  }
}

/** A number that is unknown in either usage is unknown in the sum. */
function sumOf(a: Usage, b: Usage): Usage {
  const add = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined || y === undefined ? undefined : x + y;
  const partOf = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);
  const cachedInputTokens = partOf(a.cachedInputTokens, b.cachedInputTokens);
  const reasoningTokens = partOf(a.reasoningTokens, b.reasoningTokens);
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    ...(cachedInputTokens !== undefined && { cachedInputTokens }),
    outputTokens: add(a.outputTokens, b.outputTokens),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    cost: add(a.cost, b.cost),
  };
}

/** The result of work that may ignore the signal. @throws the signal's reason on abort; what the work does later is dropped. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- a signal's reason can be anything
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
