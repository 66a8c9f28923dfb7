import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { AppError } from '../../../core/errors.ts';
import { parseJson } from '../../../core/jsonFields.ts';

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

/** A request of a flow to the models of the editor. */
export interface BridgeRequest {
  /** `auto` leaves the choice to the editor. */
  readonly model: string;
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly temperature: number | undefined;
  readonly isStreamed: boolean;
}

/** @throws AppError `bad-input` or `limit` for a request that the editor's models do not support. */
export async function readBridgeRequest(request: IncomingMessage): Promise<BridgeRequest> {
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
export async function readBridgeBody(request: IncomingMessage): Promise<string> {
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
