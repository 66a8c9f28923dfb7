import { AppError, messageOf } from '../../core/errors.ts';
import { parseJson } from '../../core/jsonFields.ts';
import { BudgetError } from '../run/budget.ts';
import { type CallJournal, CallPause, type CallResult } from '../run/callJournal.ts';
import { isPause, isPaused, type Pause } from '../run/pause.ts';
import { type GenAiCall, inGenAiSpan } from '../run/genAiSpan.ts';
import { scopes } from '../run/runScope.ts';
import { resultText, type Tool } from '../tools/tool.ts';
import { boundedResult, ConversationView, type HistoryPolicy } from './conversationLimits.ts';
import type { ChatMessage, ChatReply, ReplyPiece, ToolCall, ToolOptions, Usage } from './chatMessages.ts';

const DEFAULT_MAX_STEPS = 10;
const DEFAULT_PARALLEL = 4;
const REFUSAL = 'Error: the user refused this call.';

/** A call of a tool. It has an `output` or an `error`, which is what the model got as its result. */
export interface ToolStep {
  readonly name: string;
  readonly input: unknown;
  readonly output?: unknown;
  readonly error?: string;
}

/** What happens in a tool loop, as it happens. Calls of one reply run at once, so their results come in the order in which they end. */
export type ToolEvent =
  | ReplyPiece
  /** `input` has the arguments as the model wrote them: a text if they are not JSON. */
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  /** It has an `output` or an `error`, as the step of the call. */
  | ({ readonly type: 'result'; readonly id: string } & Omit<ToolStep, 'input'>);

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
   * Asked before each call with checked arguments. Only `true` runs it. A `pause` in the `exec` of a node ends the run until a person has
   * answered: `yes` or true runs this call. Anything else, and an error, refuses it, which is reported to the model.
   */
  readonly approve?: ((call: ApprovalCall) => boolean | Pause | Promise<boolean | Pause>) | undefined;
  /** The most that the model gets of a tool's result, in tokens by estimate; `steps` have all of it. Unlimited if absent. */
  readonly maxResultTokens?: number | undefined;
  /** Leaves messages out of requests that would be too long; `messages` of the result have all of them. */
  readonly history?: HistoryPolicy | undefined;
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
  /** Receives what happens, except the pieces of a reply, which `complete` reports; undefined if nobody follows it. */
  readonly onEvent: ((event: ToolEvent) => void) | undefined;
  /** What earlier attempts of the same `exec` did; undefined outside of one. */
  readonly journal: CallJournal | undefined;
}

/**
 * Sends messages and calls the tools that the model asks for, those of one reply at once, until it replies without a call.
 *
 * @throws ToolLimitError after `maxSteps` replies, AppError `bad-input` for two tools of one name; what a request throws; the signal's reason.
 */
export function runToolLoop(first: readonly ChatMessage[], given: Omit<LoopParts, 'journal'>): Promise<ToolRun> {
  const { agent } = given;
  const parts = { ...given, journal: scopes.getStore()?.journal };
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
  const { tools, signal, onEvent } = parts;
  const complete = await remembering({ ...parts, complete: shortening(parts) });
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
    for (const { id, name, arguments: text } of reply.toolCalls)
      onEvent?.({ type: 'call', id, name, input: writtenInput(text) });
    const results = await callAtOnce(reply.toolCalls, parallel, signal, (call, callSignal) =>
      inGenAiSpan(toolCall(call, byName.get(call.name)), async (span) => {
        const result = await callTool(call, byName, { ...parts, options, signal: callSignal });
        if (result.error !== undefined) span.set({ 'error.type': '_OTHER' });
        const { input: _input, ...ended } = result;
        onEvent?.({ type: 'result', id: call.id, ...ended });
        return result;
      }),
    );
    for (const [index, step] of results.entries()) {
      steps.push(step);
      const { content } = sentResult(step, options);
      messages.push({ role: 'tool', tool_call_id: reply.toolCalls[index]?.id ?? '', content });
    }
    if (replies >= maxSteps) throw new ToolLimitError(maxSteps, messages, steps);
  }
}

/** Sends as much of the conversation as the policy allows. */
function shortening({ complete, signal, options: { history } }: LoopParts): LoopParts['complete'] {
  if (history === undefined) return complete;
  const view = new ConversationView(history, signal);
  return async (conversation, extra) => {
    const { messages, usage } = await view.of(conversation);
    const reply = await complete(messages, extra);
    return usage === undefined ? reply : { ...reply, usage: sumOf(reply.usage, usage) };
  };
}

/** What the model gets as the result of a call. */
function sentResult({ error, output }: CallResult, { maxResultTokens }: RunToolsOptions) {
  return boundedResult(error ?? resultText(output), maxResultTokens);
}

/** Sends requests, except those to which an earlier attempt got a reply that called tools. */
async function remembering({ complete, journal, onEvent }: LoopParts): Promise<LoopParts['complete']> {
  if (journal === undefined) return complete;
  const { createHash } = await import('node:crypto'); // would be half the cost of importing the runtime
  return async (messages, extra) => {
    const hash = createHash('sha256').update(JSON.stringify(messages)).digest('base64url').slice(0, 22);
    const request = journal.nextRequest(hash);
    const remembered = journal.reply(request);
    if (isReply(remembered)) {
      const { reasoning, content } = remembered;
      if (reasoning) onEvent?.({ type: 'reasoning', text: reasoning });
      if (content !== '') onEvent?.({ type: 'text', text: content });
      return remembered;
    }
    const reply = await complete(messages, extra);
    if (reply.toolCalls.length > 0) journal.keepReply(request, reply);
    return reply;
  };
}

function isReply(value: unknown): value is ChatReply {
  return typeof value === 'object' && value !== null && 'toolCalls' in value && 'message' in value;
}

/**
 * Does work for each call, so many at a time, and returns the results in the order of the calls. A failure ends the work of the others, but a
 * call that waits for a person does not: their results would be lost.
 */
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
  const pauses: { readonly index: number; readonly pause: CallPause }[] = [];
  const line = async (): Promise<void> => {
    for (const [index, call] of queue) {
      try {
        results[index] = await unlessAborted(work(call, signal), signal);
      } catch (error) {
        if (!(error instanceof CallPause)) throw error;
        pauses.push({ index, pause: error });
      }
      signal.throwIfAborted();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(parallel, calls.length) }, line));
    const [first] = pauses.toSorted((a, b) => a.index - b.index);
    if (first !== undefined) {
      first.pause.journal.pending = first.pause;
      throw first.pause;
    }
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
  const { signal, options } = parts;
  const { name } = call;
  let input: unknown = call.arguments;
  const end = ({ error, output, isReplayed }: EndedCall): ToolStep => {
    const durationMs = performance.now() - startedAt;
    const { omittedTokens } = options.maxResultTokens === undefined ? {} : sentResult({ error, output }, options);
    const report = {
      ...(omittedTokens !== undefined && { omittedTokens }),
      ...(error !== undefined && { error }),
      ...(isReplayed === true && { isReplayed }),
    };
    scopes.getStore()?.visit?.tool({ name, durationMs, ...report });
    return { name, input, ...(error === undefined ? { output } : { error }) };
  };
  try {
    const requested = tools.get(name);
    if (requested === undefined)
      return end({ error: `Error: no tool is called "${name}". Tools: ${[...tools.keys()].join(', ')}.` });
    const args = parse(call.arguments);
    input = args;
    const prepared = await requested.prepare(args);
    if (!prepared.ok) return end({ error: `Error: the arguments do not match the schema:\n${prepared.issues}` });
    input = prepared.input;
    const { idempotent = false } = requested;
    return end(await callOnce({ name, args, input, idempotent, run: (context) => prepared.run(context) }, parts));
  } catch (error) {
    signal.throwIfAborted();
    if (isEndOfRun(error)) throw error;
    return end({ error: `Error: ${messageOf(error)}` });
  }
}

interface EndedCall extends CallResult {
  readonly isReplayed?: boolean;
}

/** A call with arguments that its tool accepts. */
interface CheckedCall extends ApprovalCall {
  /** As the model wrote them. */
  readonly args: unknown;
  readonly idempotent: boolean;
  readonly run: (context: { readonly signal: AbortSignal; readonly callId: string }) => unknown;
}

/** Runs a call unless an earlier attempt did, or a person does not want it. */
async function callOnce(call: CheckedCall, { journal, signal, options }: LoopParts): Promise<EndedCall> {
  const { name, args, input, idempotent, run } = call;
  const place = journal?.next(name, args);
  const earlier = place && journal?.result(place);
  if (earlier !== undefined && !idempotent) return { ...earlier, isReplayed: true };
  const callId = (place && journal?.idOf(place)) ?? crypto.randomUUID();
  const finish = (result: CallResult, isUnknown = false): CallResult => {
    if (place !== undefined) journal?.finish(place, callId, result, isUnknown);
    return result;
  };
  if (place !== undefined && !idempotent && journal?.isUnknown(place) === true) {
    const what = `"${name}" was interrupted while it ran, so whether it took effect is unknown`;
    return finish({ error: `Error: ${what}. It was not run again; find out before you repeat it.` }, true);
  }
  const answer = place && journal?.decision(place);
  const decision = answer ?? (await decisionOn({ name, input }, options.approve));
  if (isPause(decision)) {
    if (journal !== undefined && place !== undefined) throw new CallPause(decision, { ...place, input }, journal);
    return { error: 'Error: this call needs a person, who can only be asked in the exec of a node. It was not run.' };
  }
  if (decision !== true) return finish({ error: decision === false ? REFUSAL : decision });
  if (place !== undefined) journal?.start(place, callId);
  scopes.getStore()?.visit?.call(name);
  try {
    const output = await run({ signal, callId });
    resultText(output); // throws here, inside the step, if it is not plain data
    return finish({ output });
  } catch (error) {
    if (isEndOfRun(error) && place !== undefined) journal?.suspend(place, callId);
    // An aborted call stays as it is: what it had done by then is unknown.
    if (isEndOfRun(error) || signal.aborted) throw error;
    return finish({ error: `Error: ${messageOf(error)}` });
  }
}

/** Whether an error is not for the model: the budget is spent, or a person has to answer first. */
function isEndOfRun(error: unknown): boolean {
  return error instanceof BudgetError || error instanceof CallPause || isPaused(error);
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

/** True if a call may run, a pause, or why it may not. A program in JavaScript can return anything from `approve`. */
async function decisionOn(call: ApprovalCall, approve: RunToolsOptions['approve']): Promise<true | Pause | string> {
  if (approve === undefined) return true;
  try {
    const decision: unknown = await approve(call);
    return decision === true || isPause(decision) ? decision : REFUSAL;
  } catch (error) {
    return `Error: the call was not approved: ${messageOf(error)}`;
  }
}

/** Services write no arguments as an empty text. */
function parse(text: string): unknown {
  try {
    return text.trim() === '' ? {} : parseJson(text);
  } catch {
    throw new SyntaxError('the arguments are not valid JSON.');
  }
}

/** The arguments of a call, for those who follow the loop. */
function writtenInput(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return text;
  }
}

const PARTS_OF_USAGE = [
  'cachedInputTokens',
  'cacheWriteTokens',
  'audioInputTokens',
  'audioOutputTokens',
  'reasoningTokens',
] as const;

/** A number that is unknown in either usage is unknown in the sum. */
function sumOf(a: Usage, b: Usage): Usage {
  const add = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined || y === undefined ? undefined : x + y;
  const partOf = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0);
  const parts = PARTS_OF_USAGE.flatMap((name) => {
    const sum = partOf(a[name], b[name]);
    return sum === undefined ? [] : [[name, sum] as const];
  });
  return {
    ...Object.fromEntries(parts),
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
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
