import { checkOptions, type OptionShape, requireWholeNumber } from '../schema/optionShape.ts';
import { scopes } from '../run/runScope.ts';
import { replyText } from '../llm/completion.ts';
import type { AskOptions, ChatMessage, ChatReply, Usage } from './chatMessages.ts';

// Estimates: services do not say what a message costs before they get it.
const CHARACTERS_PER_TOKEN = 4;
const TOKENS_OF_A_PART = 1_000; // an image or a file
const SUMMARY_REQUEST =
  'Summarise this part of a conversation for the assistant that continues it: what was asked, found, decided and done, with all names, numbers and open questions. Reply with the summary alone.';

/** Keeps the requests of a tool loop within the context of a model. */
export interface HistoryPolicy {
  /** A conversation that is longer, by estimate, is shortened to half of it: messages between the first and the last ones are left out. */
  readonly maxTokens: number;
  /** How many messages stay at the beginning, not counting system messages, which all stay; 1 if absent. */
  readonly keepFirst?: number | undefined;
  /** A client whose model writes a summary of what is left out. Without one, a note says how much it was. */
  readonly summarize?: Summarizer | undefined;
}

interface Summarizer {
  chatWithTools(messages: readonly ChatMessage[], options?: AskOptions): Promise<ChatReply>;
}

const HISTORY_OPTIONS: OptionShape = { maxTokens: 'number', keepFirst: 'number', summarize: 'object' };

/** @throws TypeError or RangeError for a policy that is not valid. */
export function checkHistory(history: HistoryPolicy): void {
  checkOptions('history', history, HISTORY_OPTIONS);
  const { maxTokens, keepFirst = 0, summarize } = history;
  requireWholeNumber('maxTokens of history', maxTokens);
  requireWholeNumber('keepFirst of history', keepFirst + 1);
  if (summarize !== undefined && typeof summarize.chatWithTools !== 'function')
    throw new TypeError('The option summarize of history must be an LLMClient.');
}

/** What a request has of a conversation: the messages, and what it cost to shorten them. */
interface Shortened {
  readonly messages: readonly ChatMessage[];
  readonly usage?: Usage;
}

/** The part of a growing conversation that is sent. What was left out once stays out, so that a service can cache the beginning. */
export class ConversationView {
  readonly #policy: HistoryPolicy;
  readonly #signal: AbortSignal;
  /** In place of the first messages of the conversation. */
  #beginning: readonly ChatMessage[] = [];
  #replaced = 0;
  #leftOut = 0;
  /** Stands for what was left out. */
  #note: ChatMessage | undefined;

  constructor(policy: HistoryPolicy, signal: AbortSignal) {
    this.#policy = policy;
    this.#signal = signal;
  }

  /** The messages to send, shortened if they are too long. Throws what the request for a summary throws. */
  async of(conversation: readonly ChatMessage[]): Promise<Shortened> {
    const messages = [...this.#beginning, ...conversation.slice(this.#replaced)];
    const tokensBefore = tokensOf(messages);
    const { maxTokens, keepFirst = 1, summarize } = this.#policy;
    if (tokensBefore <= maxTokens) return { messages };
    const { first, middle, last } = partsOf(messages, keepFirst, maxTokens / 2);
    const leftOut = middle.filter((message) => message !== this.#note).length;
    if (leftOut === 0) return { messages };
    this.#leftOut += leftOut;
    const summary = await summarize?.chatWithTools(
      [
        { role: 'system', content: SUMMARY_REQUEST },
        { role: 'user', content: middle.map(transcriptOf).join('\n\n') },
      ],
      { signal: this.#signal },
    );
    const text = summary === undefined ? '' : ` What they said, in short:\n${summary.content}`;
    const note = { role: 'user', content: `[${this.#leftOut} earlier messages are left out here.${text}]` };
    this.#note = note;
    this.#beginning = [...first, note, ...last];
    this.#replaced = conversation.length;
    const tokensAfter = tokensOf(this.#beginning);
    const isSummarized = summary !== undefined;
    scopes.getStore()?.visit?.history({ leftOut, tokensBefore, tokensAfter, isSummarized });
    return { messages: this.#beginning, ...(summary && { usage: summary.usage }) };
  }
}

/**
 * The messages that stay at the beginning, those that are left out, and those that stay at the end: as many as `tokens` allow, but at least one.
 * A call and its results are never parted.
 */
function partsOf(messages: readonly ChatMessage[], keepFirst: number, tokens: number) {
  const groups = groupsOf(messages);
  const isSystem = ([message]: readonly ChatMessage[]): boolean =>
    message?.role === 'system' || message?.role === 'developer';
  let begin = 0;
  for (let left = keepFirst; begin < groups.length; begin += 1) {
    if (isSystem(groups[begin] ?? [])) continue;
    if (left === 0) break;
    left -= 1;
  }
  let end = groups.length - 1;
  let room = tokens - tokensOf(groups.slice(0, begin).flat()) - tokensOf(groups[end] ?? []);
  while (end - 1 >= begin) {
    room -= tokensOf(groups[end - 1] ?? []);
    if (room < 0) break;
    end -= 1;
  }
  const between = groups.slice(begin, Math.max(begin, end));
  return {
    first: [...groups.slice(0, begin), ...between.filter(isSystem)].flat(),
    middle: between.filter((group) => !isSystem(group)).flat(),
    last: groups.slice(Math.max(begin, end)).flat(),
  };
}

/** Each message alone, but results of tools with the message that called them. */
function groupsOf(messages: readonly ChatMessage[]): ChatMessage[][] {
  const groups: ChatMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'tool' && groups.length > 0) groups.at(-1)?.push(message);
    else groups.push([message]);
  }
  return groups;
}

function tokensOf(messages: readonly ChatMessage[]): number {
  let tokens = 0;
  for (const { content, tool_calls: calls } of messages) {
    const parts = Array.isArray(content) ? content.filter(({ type }: { type?: unknown }) => type !== 'text').length : 0;
    const length = replyText(content).length + (calls === undefined ? 0 : JSON.stringify(calls).length);
    tokens += Math.ceil(length / CHARACTERS_PER_TOKEN) + parts * TOKENS_OF_A_PART;
  }
  return tokens;
}

function transcriptOf({ role, content, tool_calls: calls }: ChatMessage): string {
  return `${role}: ${replyText(content)}${calls === undefined ? '' : ` ${JSON.stringify(calls)}`}`;
}

/** A tool's result as the model gets it: the beginning and the end of one that is too long, and how many tokens of it are missing. */
export function boundedResult(
  text: string,
  maxTokens: number | undefined,
): { readonly content: string; readonly omittedTokens?: number } {
  const room = (maxTokens ?? Number.POSITIVE_INFINITY) * CHARACTERS_PER_TOKEN;
  if (text.length <= room) return { content: text };
  const head = wholeCharacters(text.slice(0, Math.ceil((room * 3) / 4)));
  const tail = text.slice(text.length - Math.floor(room / 4)).replace(/^[\uDC00-\uDFFF]/, '');
  const omitted = text.length - head.length - tail.length;
  return {
    content: `${head}\n[… ${omitted} characters are left out here …]\n${tail}`,
    omittedTokens: Math.ceil(omitted / CHARACTERS_PER_TOKEN),
  };
}

/** Without the first half of a character at its end. */
function wholeCharacters(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, '');
}
