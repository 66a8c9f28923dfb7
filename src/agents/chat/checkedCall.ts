import { checkOptions, type OptionShape, requireWholeNumber } from '../schema/optionShape.ts';
import type { AskOptions } from './chatMessages.ts';
import { checkHistory } from './conversationLimits.ts';
import type { RunToolsOptions } from './toolLoop.ts';

const TEXT_OPTIONS: OptionShape = { params: 'object', retries: 'number', timeout: 'number', signal: 'signal' };
const CALL_OPTIONS: OptionShape = { schema: 'schema', repairs: 'number', ...TEXT_OPTIONS };

/** Of `chatWithTools`. */
export const CHAT_TOOL_OPTIONS: OptionShape = { ...TEXT_OPTIONS, tools: 'any', toolChoice: 'any' };
const TOOL_OPTIONS: OptionShape = {
  ...TEXT_OPTIONS,
  toolChoice: 'any',
  maxSteps: 'number',
  parallel: 'number',
  approve: 'function',
  maxResultTokens: 'number',
  history: 'object',
};

/** @throws TypeError for a prompt that is not a text. */
export function checkPrompt(method: string, prompt: unknown): void {
  if (typeof prompt === 'string') return;
  throw new TypeError(
    `The prompt of ${method} must be a string. For a list of messages, use the methods that begin with chat.`,
  );
}

/**
 * Checks the arguments of a call, which a program in JavaScript can get wrong. Services check the messages themselves.
 *
 * @throws TypeError for one of another type, RangeError for a number out of range.
 */
export function checkCall(
  method: string,
  messages: unknown,
  options: AskOptions & { readonly repairs?: number | undefined },
  shape = CALL_OPTIONS,
): void {
  checkOptions(method, options, shape);
  const { retries = 0, repairs = 0, timeout = 1 } = options;
  for (const [name, value] of Object.entries({ retries, repairs })) {
    if (value >= 0 && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)) continue;
    throw new RangeError(`${name} of ${method} is ${value}; it must be a whole number of at least 0.`);
  }
  if (!(timeout > 0)) {
    throw new RangeError(`timeout of ${method} is ${timeout}; it must be a number of seconds above 0.`);
  }
  if (!isListOf(messages, 'role')) {
    throw new TypeError(`The messages of ${method} must be an array of objects: [{ role: 'user', content: … }].`);
  }
}

/** The same for a call with tools. */
export function checkToolCall(
  method: string,
  {
    messages,
    tools,
    options,
  }: { readonly messages: unknown; readonly tools: unknown; readonly options: RunToolsOptions },
): void {
  checkCall(method, messages, options, TOOL_OPTIONS);
  checkTools(method, tools);
  if (options.history !== undefined) checkHistory(options.history);
  for (const option of ['maxSteps', 'parallel', 'maxResultTokens'] as const) {
    const value = options[option];
    if (value !== undefined) requireWholeNumber(option, value);
  }
}

/** @throws TypeError for what is no list of tools. */
export function checkTools(method: string, tools: unknown): void {
  if (!isListOf(tools, 'prepare'))
    throw new TypeError(`The tools of ${method} must be an array of what tool() returns.`);
}

function isListOf(value: unknown, field: string): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && field in item);
}
