import * as z from 'zod';
import type { ModelExchange } from '../../../agents/run/runHost.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { readIfThere } from './runFiles.ts';
import type { RunFolder } from './runFolder.ts';

const callSchema = z.looseObject({
  provider: z.string(),
  path: z.string().optional(),
  visit: z.number().optional(),
  durationMs: z.number(),
  cost: z.number().optional(),
  request: z.looseObject({
    model: z.string(),
    messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  }),
  completion: z.looseObject({
    choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string().nullish() }) })),
    usage: z.looseObject({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
  }),
});

/** A request that a run sent to a language model, with the reply. */
export interface RecordedModelCall extends Omit<ModelExchange, 'request' | 'completion'> {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly reply: string;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** The calls of a run, in their order. */
export async function readModelCalls(folder: RunFolder): Promise<readonly RecordedModelCall[]> {
  return parseLines(await readIfThere(folder.calls), (value) => callSchema.safeParse(value).data).map(described);
}

function described({ request, completion, ...call }: z.infer<typeof callSchema>): RecordedModelCall {
  const { provider, path, visit, durationMs, cost } = call;
  return {
    provider,
    model: request.model,
    path,
    visit,
    messages: request.messages.map(({ role, content }) => ({ role, content: textOf(content) })),
    reply: completion.choices[0]?.message.content ?? '',
    durationMs,
    inputTokens: completion.usage?.prompt_tokens,
    outputTokens: completion.usage?.completion_tokens,
    cost,
  };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : (JSON.stringify(content) ?? '');
}
