import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as z from 'zod';
import { AppError, type ErrorCode, messageOf } from '../../../core/errors.ts';
import { selectedModelVariables } from '../../../agents/llm/selectedModel.ts';
import { type Endpoint, keyHeaders, requestUrl } from '../../../agents/llm/providers.ts';
import { parseJson } from '../../../core/jsonFields.ts';

/** Where the path of the selected service starts at the bridge. */
const SELECTED_PATH = '/selected/v1';
const ROUTES: readonly string[] = ['/chat/completions', '/responses'];
const HEADERS = ['content-type', 'retry-after'];
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });

const completionRequest = z.looseObject({
  model: z.string(),
  messages: z.array(
    z.looseObject({
      role: z.enum(['system', 'developer', 'user', 'assistant']),
      content: z.union([z.string(), z.array(textPart)]),
    }),
  ),
  stream: z.boolean().optional(),
  tools: z.array(z.unknown()).max(0, "the editor's models do not support tools").optional(),
  temperature: z.number().optional(),
});

/** The models behind a bridge. */
export interface BridgedModels {
  /** The reply as a stream. Errors are passed to the flow, an `AppError` with its code. */
  complete(request: BridgeRequest, signal: AbortSignal): AsyncIterable<string>;
  /** The number of tokens of a text for a model; without it, calls have no token counts. */
  countTokens?(text: string, model: string, signal: AbortSignal): Promise<number>;
  /** The ids of the available models. */
  list(): Promise<readonly string[]>;
}

/** The model that the user selected: one of the editor's, or one of a service. */
export interface SelectedModels {
  readonly provider: string;
  readonly model: string;
  /** Undefined for a model of the editor. */
  readonly service: SelectedService | undefined;
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  'bad-input': 400,
  limit: 429,
  missing: 404,
  'not-signed-in': 401,
  permission: 403,
  refused: 403,
};

/** The service of the selected model. Its key stays in the editor. */
interface SelectedService extends Partial<Pick<Endpoint, 'query' | 'keyHeader'>> {
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly fetch: typeof fetch;
}

/** A request of a flow to the models of the editor. */
export interface BridgeRequest {
  /** `auto` leaves the choice to the editor. */
  readonly model: string;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly temperature: number | undefined;
  readonly isStreamed: boolean;
}

/**
 * Offers models to child processes as a chat completions service: on loopback only, and only with the token, which is valid as
 * long as the bridge is open. Open one for each run, and pass its `env` to the child, where the provider `vscode` reads it.
 */
export class ModelBridge implements AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  readonly #server: Server;

  private constructor(server: Server, token: string, selected: SelectedModels | undefined) {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    this.#server = server;
    const origin = `http://127.0.0.1:${port}`;
    const baseUrl = `${origin}${selected?.service === undefined ? '/v1' : SELECTED_PATH}`;
    this.env = {
      FARWHARF_MODEL_BRIDGE_URL: `${origin}/v1`,
      FARWHARF_MODEL_BRIDGE_TOKEN: token,
      ...(selected && selectedModelVariables({ ...selected, baseUrl })),
    };
  }

  /** @param selected the model for clients that name no other. */
  static async open(models: BridgedModels, selected?: SelectedModels): Promise<ModelBridge> {
    const token = randomBytes(24).toString('base64url');
    const service = selected?.service;
    const server = createServer((request, response) => void answer({ models, service, token }, request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return new ModelBridge(server, token, selected);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections(); // aborts requests in progress
    await closed;
  }
}

interface Bridged {
  readonly models: BridgedModels;
  readonly service: SelectedService | undefined;
  readonly token: string;
}

async function answer(
  { models, service, token }: Bridged,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const disconnection = new AbortController();
  response.once('close', () =>
    disconnection.abort(new DOMException('The flow no longer waits for the reply.', 'AbortError')),
  );
  try {
    authorise(request, token);
    if (service !== undefined && request.url?.startsWith(`${SELECTED_PATH}/`) === true) {
      return await forwardToSelected(service, request, response, disconnection.signal);
    }
    const route = `${request.method} ${request.url}`;
    if (route === 'GET /v1/models') {
      const data = (await models.list()).map((id) => ({ id, object: 'model' }));
      return sendJson(response, 200, { object: 'list', data });
    }
    if (route !== 'POST /v1/chat/completions') throw new AppError('missing', `The bridge has no ${route}.`);
    const chatRequest = await readBridgeRequest(request);
    const exchange = { models, asked: chatRequest, response, signal: disconnection.signal };
    await (chatRequest.isStreamed ? stream(exchange) : complete(exchange));
  } catch (error) {
    if (response.headersSent || disconnection.signal.aborted) {
      response.destroy(); // a stream that just stopped would look complete
      return;
    }
    const code = error instanceof AppError ? error.code : undefined;
    const status = code === undefined ? 502 : (STATUS[code] ?? 502);
    sendJson(response, status, { error: { message: messageOf(error), type: code ?? 'failed', code: code ?? null } });
  }
}

/** A web page that found the port has neither the token nor a loopback address in `Host`. */
function authorise({ headers, socket }: IncomingMessage, token: string): void {
  const sentToken = Buffer.from(headers.authorization ?? '');
  const authorization = Buffer.from(`Bearer ${token}`);
  const isHere = headers.host === `127.0.0.1:${socket.localPort}`;
  if (isHere && sentToken.length === authorization.length && timingSafeEqual(sentToken, authorization)) return;
  throw new AppError('not-signed-in', "The editor's models can only be used with the token of this run.");
}

interface Exchange {
  readonly models: BridgedModels;
  readonly asked: BridgeRequest;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

async function complete(exchange: Exchange): Promise<void> {
  const { models, asked, response, signal } = exchange;
  let content = '';
  for await (const piece of models.complete(asked, signal)) content += piece;
  sendJson(response, 200, {
    ...head(asked, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    ...(await usageOf(exchange, content)),
  });
}

async function stream(exchange: Exchange): Promise<void> {
  const { models, asked, response, signal } = exchange;
  const send = (chunk: object): void => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ ...head(asked, 'chat.completion.chunk'), ...chunk })}\n\n`);
  };
  let content = '';
  for await (const piece of models.complete(asked, signal)) {
    content += piece;
    send({ choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] });
  }
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  const usage = await usageOf(exchange, content);
  if (usage !== undefined) send({ choices: [], ...usage });
  response.end('data: [DONE]\n\n');
}

function head({ model }: BridgeRequest, object: string): object {
  return { id: `bridge-${randomBytes(6).toString('hex')}`, object, created: Math.floor(Date.now() / 1000), model };
}

async function usageOf({ models, asked, signal }: Exchange, content: string): Promise<{ usage: object } | undefined> {
  if (models.countTokens === undefined) return undefined;
  const { model, messages } = asked;
  const prompt = messages.map((message) => message.content).join('\n');
  const count = (text: string): Promise<number> => models.countTokens?.(text, model, signal) ?? Promise.resolve(0);
  const [input, output] = await Promise.all([count(prompt), count(content)]);
  return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
}

/**
 * Passes a request of a flow on to the selected service, and the response back as it arrives.
 *
 * @throws AppError `missing` for any other path, `limit` for a body over 16 MB, and what `fetch` throws.
 */
async function forwardToSelected(
  { baseUrl, query = {}, keyHeader, key, fetch }: SelectedService,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const route = ROUTES.find((each) => request.url === SELECTED_PATH + each);
  if (request.method !== 'POST' || route === undefined) {
    throw new AppError('missing', `The bridge has no ${request.method} ${request.url}.`);
  }
  const answer = await fetch(requestUrl({ baseUrl, query }, route), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...keyHeaders({ keyHeader }, key) },
    body: await readBridgeBody(request),
    redirect: 'error', // a redirect could take the key elsewhere
    signal,
  });
  const headers = HEADERS.flatMap((name) => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  response.writeHead(answer.status, Object.fromEntries(headers));
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response, { signal });
}

/** @throws AppError `bad-input` or `limit` for a request that the editor's models do not support. */
async function readBridgeRequest(request: IncomingMessage): Promise<BridgeRequest> {
  const { model, messages, temperature, stream } = parse(await readBridgeBody(request));
  return {
    model,
    messages: messages.map(({ role, content }) => ({
      role: role === 'developer' ? 'system' : role,
      content: typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
    })),
    temperature,
    isStreamed: stream === true,
  };
}

/** @throws AppError `limit` for a body over 16 MB. */
async function readBridgeBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const body: AsyncIterable<Buffer> = request;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new AppError('limit', 'The request is larger than 16 MB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): z.infer<typeof completionRequest> {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch (cause) {
    throw new AppError('bad-input', 'The request is not valid JSON.', { cause });
  }
  const parsed = completionRequest.safeParse(json);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new AppError('bad-input', `The editor's models do not support this request: ${issues}.`);
}
