import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { AppError, messageOf } from '../../core/errors.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import type { Disposable } from '../../core/processes/lifetime.ts';
import type { AgentToolName } from '../../jobs/agentTools/agentToolNames.ts';

// https://modelcontextprotocol.io/specification/2025-06-18
const PROTOCOL_VERSION = '2025-06-18';

const message = z.looseObject({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});
const toolResult = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.unknown()).default({}),
  isError: z.boolean().default(false),
});

/** What a tool returned: a text for the model, and data. */
export interface ToolResult {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** How `farwharf mcp` is started for a folder. */
export interface ToolCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** A `farwharf mcp` process that runs tools: JSON-RPC 2.0, one message a line. It ends when it is disposed. */
export class ToolProcess implements Disposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #pending = new Map<number, Pending>();
  readonly #ready: Promise<unknown>;
  #lastId = 0;
  #end: AppError | undefined;

  constructor({ command, args, env }: ToolCommand) {
    this.#child = spawn(command, args, { env, stdio: 'pipe' });
    this.#child.stderr.resume();
    this.#child.stdin.on('error', () => {}); // `close` reports the end
    this.#child.once('error', (error) => this.#fail(messageOf(error)));
    this.#child.once('close', (code, signal) => this.#fail(`ended with ${signal ?? code}`));
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#receive(line));
    const client = { name: 'farwharf-vscode', version: '1' };
    const hello = { protocolVersion: PROTOCOL_VERSION, capabilities: {}, clientInfo: client };
    this.#ready = this.#request('initialize', hello).then(() => this.#send({ method: 'notifications/initialized' }));
    this.#ready.catch(() => {}); // the first call reports it
  }

  /** Whether it can take calls. */
  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** @throws AppError `unreachable` if the process ends first; the signal's reason on abort. */
  async call(name: AgentToolName, input: unknown, signal: AbortSignal): Promise<ToolResult> {
    await this.#ready;
    const result = await this.#request('tools/call', { name, arguments: input }, signal);
    const { content, structuredContent: data, isError } = toolResult.parse(result);
    return { text: content.map(({ text = '' }) => text).join('\n'), data, isError };
  }

  dispose(): void {
    this.#fail('was stopped');
    this.#child.stdin.end();
    this.#child.kill();
  }

  async #request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    if (this.#end !== undefined) throw this.#end;
    signal?.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { resolve, reject });
    const cancel = (): void => {
      this.#send({ method: 'notifications/cancelled', params: { requestId: id } });
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', cancel, { once: true });
    this.#send({ id, method, params });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#pending.delete(id);
    }
  }

  #send(body: object): void {
    if (this.#end === undefined) this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`);
  }

  #receive(line: string): void {
    const { id, result, error } = message.safeParse(tryParseJson(line)).data ?? {}; // other lines are ignored
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new AppError('refused', error.message));
  }

  #fail(why: string): void {
    this.#end ??= new AppError('unreachable', `The process that runs tools ${why}. Try again.`);
    for (const pending of this.#pending.values()) pending.reject(this.#end);
  }
}
