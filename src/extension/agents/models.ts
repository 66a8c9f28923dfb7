import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { TextMessage } from '../../agents/chat/chatMessages.ts';
import { googleToken } from '../../agents/llm/googleToken.ts';
import type { Endpoint } from '../../agents/llm/providers.ts';
import { createNetworkFetch } from '../../core/network/networkFetch.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { SelectedModels } from '../../flows/run/start/modelBridge.ts';
import { readSetting } from '../contributions/config.ts';
import { streamEditorChat } from './editorChat.ts';
import type { Keys } from '../account/keys.ts';
import { type ModelChoice, placeOf, readModelChoice, requireSafeForKey } from './modelChoice.ts';

const PURPOSE = l10n.t('To answer your question about the folder with the excerpts that you chose.');

/** A model that can answer. */
export interface AnswerModel {
  readonly name: string;
  /** The display name of the place where it runs. */
  readonly place: string;
  /** Yields the answer as it arrives. @throws AppError with what to do, or the signal's reason. */
  stream(messages: readonly TextMessage[], signal: AbortSignal): AsyncIterable<string>;
}

/** The model in the user's settings. A workspace can choose neither the model nor where a key is sent. */
function chosenModel(): ModelChoice {
  return readModelChoice({
    provider: readSetting('model.provider'),
    name: readSetting('model.name'),
    baseUrl: readSetting('model.baseUrl'),
  });
}

/** The key for an endpoint: the one stored for its origin, else the one in its provider's environment variable, else that of gcloud. */
export async function keyFor(endpoint: Endpoint, keys: Keys): Promise<string | undefined> {
  const { baseUrl, keyVariable, provider } = endpoint;
  const modelKey = (await keys.get(baseUrl)) ?? (keyVariable === undefined ? undefined : process.env[keyVariable]);
  const key = modelKey ?? (provider === 'vertex' ? await googleToken() : undefined);
  if (key !== undefined) requireSafeForKey(endpoint);
  return key || undefined;
}

/**
 * Opens the selected model; undefined if none is selected or the selected one is no longer available.
 *
 * @throws AppError if the settings are not usable.
 */
export async function openModel(keys: Keys): Promise<AnswerModel | undefined> {
  const choice = chosenModel();
  if (choice.type === 'none') return undefined;
  if (choice.type === 'endpoint') return openEndpoint(choice.endpoint, keys);
  const [model] = await vscode.lm.selectChatModels({ id: choice.id });
  return model === undefined ? undefined : openEditorModel(model);
}

/**
 * The selected model, for flows; undefined if none is selected or its key is missing.
 *
 * @throws AppError if the settings are not usable.
 */
export async function selectedForFlows(keys: Keys): Promise<SelectedModels | undefined> {
  const choice = chosenModel();
  if (choice.type === 'none') return undefined;
  if (choice.type === 'editor') return { provider: 'vscode', model: choice.id, service: undefined };
  const { provider, model, baseUrl, query, keyHeader, needsKey } = choice.endpoint;
  const key = await keyFor(choice.endpoint, keys);
  if (key === undefined && needsKey) return undefined;
  return { provider, model, service: { baseUrl, query, keyHeader, key, fetch: createNetworkFetch() } };
}

async function openEndpoint(endpoint: Endpoint, keys: Keys): Promise<AnswerModel | undefined> {
  const key = await keyFor(endpoint, keys);
  if (key === undefined && endpoint.needsKey) return undefined;
  return {
    name: printableLine(endpoint.model),
    place: placeOf(endpoint),
    async *stream(messages, signal) {
      const { streamChat } = await import('./chatModel.ts');
      yield* streamChat(endpoint, messages, { key, signal, fetch: createNetworkFetch() });
    },
  };
}

/** The chat models of VS Code and its extensions. */
function openEditorModel(model: vscode.LanguageModelChat): AnswerModel {
  return {
    name: printableLine(model.name),
    place: l10n.t('{0}, through VS Code', printableLine(model.vendor)),
    stream: (messages, signal) => streamEditorChat(model, messages, { purpose: PURPOSE, signal }),
  };
}
