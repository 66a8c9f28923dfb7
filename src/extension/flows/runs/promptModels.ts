import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { PROVIDER_NAMES, requestUrl } from '../../../agents/llm/providers.ts';
import { createNetworkFetch } from '../../../core/network/networkFetch.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { streamEditorChat } from '../../agents/editorChat.ts';
import type { Keys } from '../../account/keys.ts';
import { endpointOf, placeOf } from '../../agents/modelChoice.ts';
import { keyFor } from '../../agents/models.ts';
import type { PromptMessages, TriedPrompt } from './promptText.ts';

/** A model for trying a prompt. */
export interface PromptModel {
  readonly name: string;
  readonly place: string;
  /** @throws AppError with what to do, or the signal's reason. */
  ask(messages: PromptMessages, signal: AbortSignal): Promise<Omit<TriedPrompt, 'model'>>;
}

/** All available models: that of the recorded call first, then the editor's, then those of services with a key. */
export async function promptModels(
  recorded: { readonly provider: string; readonly model: string } | undefined,
  keys: Keys,
): Promise<readonly PromptModel[]> {
  const editor = (await vscode.lm.selectChatModels()).map(editorModel);
  const wanted = [
    ...(recorded === undefined || !PROVIDER_NAMES.includes(recorded.provider) ? [] : [recorded]),
    ...PROVIDER_NAMES.map((provider) => ({ provider, model: undefined })),
  ];
  const services = await Promise.all(wanted.map((options) => serviceModel(options, keys)));
  const found = services.filter((model) => model !== undefined);
  const names = new Set<string>();
  return [...found.slice(0, 1), ...editor, ...found.slice(1)].filter(({ name, place }) => {
    const key = `${name} ${place}`;
    return !names.has(key) && names.add(key);
  });
}

function editorModel(model: vscode.LanguageModelChat): PromptModel {
  return {
    name: printableLine(model.name),
    place: l10n.t('{0}, through VS Code', printableLine(model.vendor)),
    async ask(messages, signal) {
      const startedAt = performance.now();
      let reply = '';
      for await (const part of streamEditorChat(model, messages, { purpose: l10n.t('To try a prompt.'), signal }))
        reply += part;
      return { reply, seconds: (performance.now() - startedAt) / 1000 };
    },
  };
}

async function serviceModel(
  options: { readonly provider: string; readonly model: string | undefined },
  keys: Keys,
): Promise<PromptModel | undefined> {
  const endpoint = endpointOf(options);
  if (endpoint === undefined) return undefined;
  const key = await keyFor(endpoint, keys);
  if (key === undefined && endpoint.needsKey) return undefined;
  return {
    name: printableLine(endpoint.model),
    place: placeOf(endpoint),
    async ask(messages, signal) {
      const { askModel } = await import('../../agents/chatModel.ts');
      const { provider, model } = endpoint;
      const baseUrl = requestUrl(endpoint);
      const transport = { signal, fetch: createNetworkFetch() };
      const { reply, call } = await askModel({ provider, model, baseUrl, apiKey: key }, messages, transport);
      return {
        reply,
        seconds: (call?.durationMs ?? 0) / 1000,
        inputTokens: call?.inputTokens,
        outputTokens: call?.outputTokens,
        cost: call?.estimatedCost,
      };
    },
  };
}
