import { AppError } from '../../../core/errors.ts';
import { readNamedFile } from '../../../core/files/namedFile.ts';
import { stableJson } from '../../../agents/records/plainJson.ts';
import { parseLines } from '../protocol/jsonLines.ts';

interface RecordedCall {
  readonly provider: string;
  readonly request: unknown;
  readonly completion: unknown;
}

const ANY_PROVIDER = '';
// As long as a text can be.
const MAX_BYTES = 500e6;

/** Replies of language models from an earlier run, found by the whole request. */
export class RecordedCompletions {
  readonly #answers = new Map<string, unknown[]>();

  constructor(calls: readonly RecordedCall[]) {
    for (const { provider, request, completion } of calls) {
      for (const key of [keyOf(provider, request), keyOf(ANY_PROVIDER, request)]) {
        this.#answers.set(key, [...(this.#answers.get(key) ?? []), completion]);
      }
    }
  }

  /** @throws as `readNamedFile`. */
  static async read(path: string): Promise<RecordedCompletions> {
    const text = await readNamedFile(path, { name: `The recording ${path}`, maxBytes: MAX_BYTES });
    return new RecordedCompletions(parseLines(text, readCall));
  }

  /**
   * Equal requests get their replies in order, then the last one again. If none is of this provider, one of another is used: the address
   * of the model may come from a variable that is not set here.
   *
   * @throws AppError `missing` if there is none.
   */
  find(provider: string, request: Readonly<Record<string, unknown>>): unknown {
    const sameRequest = this.#answers.get(keyOf(provider, request));
    const answers = sameRequest ?? this.#answers.get(keyOf(ANY_PROVIDER, request));
    const answer = answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0];
    if (answer !== undefined) return structuredClone(answer);
    throw new AppError(
      'missing',
      `The recording has no reply of ${provider} for this request, and this run is offline: ${lastMessage(request)}`,
    );
  }
}

function readCall(value: unknown): RecordedCall | undefined {
  if (typeof value !== 'object' || value === null || !('provider' in value) || !('completion' in value))
    return undefined;
  const { provider, completion } = value;
  return { provider: String(provider), request: 'request' in value ? value.request : undefined, completion };
}

function keyOf(provider: string, request: unknown): string {
  return `${provider}\n${stableJson(request)}`;
}

function lastMessage({ messages }: Readonly<Record<string, unknown>>): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = typeof last === 'object' && last !== null && 'content' in last ? last.content : last;
  return String(content).slice(0, 300);
}
