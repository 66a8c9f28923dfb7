import { AppError } from '../../core/errors.ts';
import { Node, type NodeOptions } from '../graph/node.ts';
import { optionShape } from '../graph/unit.ts';
import type { ExecContext } from '../run/execContext.ts';
import type { Tool } from '../tools/tool.ts';
import type { OptionShape } from '../schema/optionShape.ts';
import { checkTools } from './checkedCall.ts';
import type { LLMClient } from './llmClient.ts';
import type { ChatMessage } from './chatMessages.ts';
import type { RunToolsOptions, ToolRun } from './toolLoop.ts';

export interface ToolNodeOptions
  extends NodeOptions,
    Pick<RunToolsOptions, 'maxSteps' | 'parallel' | 'approve' | 'maxResultTokens' | 'history' | 'params'> {
  readonly client: LLMClient;
  readonly tools: readonly Tool[];
  /** The key of the shared state with the prompt or the messages; `messages` if absent. */
  readonly inputKey?: string;
  /** The key that gets the text of the reply; `answer` if absent. */
  readonly outputKey?: string;
  /** Whether replies are streamed, so that text and reasoning appear in the trace and on the canvas as they come. */
  readonly stream?: boolean;
}

const TOOL_NODE_OPTIONS: OptionShape = {
  client: 'object',
  tools: 'any',
  maxSteps: 'number',
  parallel: 'number',
  approve: 'function',
  maxResultTokens: 'number',
  history: 'object',
  params: 'object',
  inputKey: 'string',
  outputKey: 'string',
  stream: 'boolean',
};

/**
 * Lets a model work with tools: reads `shared[inputKey]`, a prompt or a list of messages, and writes the reply to `shared[outputKey]`. A
 * list of messages is replaced by the whole conversation. Override `prep` and `post` to do something else with them.
 */
export class ToolNode<S extends object = object, A extends string | void = string | void> extends Node<
  S,
  string | readonly ChatMessage[],
  ToolRun,
  A
> {
  readonly #options: ToolNodeOptions;

  constructor(options: ToolNodeOptions) {
    super(options);
    const call = `new ${this.constructor.name}`;
    if (typeof options?.client?.runTools !== 'function') {
      throw new TypeError(`The option client of ${call} must be an LLMClient.`);
    }
    checkTools(call, options.tools);
    this.#options = options;
  }

  /** @internal */
  override get [optionShape](): OptionShape {
    return { ...TOOL_NODE_OPTIONS, ...super[optionShape] };
  }

  override prep(shared: S): string | readonly ChatMessage[] | Promise<string | readonly ChatMessage[]> {
    const key = this.#options.inputKey ?? 'messages';
    const input: unknown = Reflect.get(shared, key);
    if (typeof input === 'string' || isMessages(input)) return input;
    throw new AppError('bad-input', `shared.${key} must be the prompt of "${this.name}" or a list of messages.`);
  }

  override exec(input: string | readonly ChatMessage[], { signal }: ExecContext): Promise<ToolRun> {
    const { client, tools, stream = false, ...given } = this.#options;
    const { maxSteps, parallel, approve, maxResultTokens, history, params } = given;
    const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
    const options = { maxSteps, parallel, approve, maxResultTokens, history, params, signal };
    return stream ? client.streamTools(messages, tools, options).result : client.runTools(messages, tools, options);
  }

  override post(shared: S, input: string | readonly ChatMessage[], run: ToolRun): A | Promise<A>;
  override post(shared: S, input: string | readonly ChatMessage[], { text, messages }: ToolRun): unknown {
    const { inputKey = 'messages', outputKey = 'answer' } = this.#options;
    if (typeof input !== 'string') Reflect.set(shared, inputKey, messages);
    Reflect.set(shared, outputKey, text);
    return undefined;
  }
}

function isMessages(value: unknown): value is readonly ChatMessage[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && 'role' in item);
}
