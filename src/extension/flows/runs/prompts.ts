import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError, isAbort } from '../../../core/errors.ts';
import { formatDollars, formatDuration, plural } from '../../../core/text/format.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import { printableLine, printableText } from '../../../core/text/printable.ts';
import type { RemoteService } from '../../../core/rpc/rpcMessages.ts';
import type { RecordedModelCall } from '../../../flows/run/history/modelCalls.ts';
import { explain } from '../../ui/errorText.ts';
import { requireTrust } from '../../workspace/folders.ts';
import { MODEL_TEXT_FOLDER, MODEL_TEXT_LANGUAGE } from '../../ui/modelText.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import type { Keys } from '../../account/keys.ts';
import type { FlowDocuments } from '../documents/flowDocuments.ts';
import { findFlow, type FlowTarget } from '../documents/flowTarget.ts';
import {
  promptDocument,
  type PromptMessages,
  readPromptDocument,
  replyDocument,
  type TriedPrompt,
} from './promptText.ts';
import { pickRow, pickRows, showCancellable } from '../../ui/show.ts';
import { withoutIcons } from '../../ui/labels.ts';
import { PROVIDER_NAMES, requestUrl } from '../../../agents/llm/providers.ts';
import { createNetworkFetch } from '../../../core/network/networkFetch.ts';
import { streamEditorChat } from '../../agents/editorChat.ts';
import { endpointOf, placeOf } from '../../agents/modelChoice.ts';
import { keyFor } from '../../agents/models.ts';

const REPLY_SCHEME = 'farwharf-replies';

interface PromptsDeps {
  readonly documents: FlowDocuments;
  readonly queries: RemoteService<FlowWorkerService>['runs'];
  readonly keys: Keys;
}

/** A model for trying a prompt. */
interface PromptModel {
  readonly name: string;
  readonly place: string;
  /** @throws AppError with what to do, or the signal's reason. */
  ask(messages: PromptMessages, signal: AbortSignal): Promise<Omit<TriedPrompt, 'model'>>;
}

/** Prompts of recorded runs: each opens as a document, where it can be edited and sent to several models side by side. */
export class Prompts implements vscode.CodeLensProvider, vscode.TextDocumentContentProvider, Disposable {
  readonly #deps: PromptsDeps;
  /** The calls behind open documents. */
  readonly #calls = new Map<string, RecordedModelCall>();
  readonly #replies = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #disposables = new DisposableStore();
  readonly onDidChange = this.#changed.event;

  constructor(deps: PromptsDeps) {
    this.#deps = deps;
    const disposables = this.#disposables;
    disposables.add(this.#changed);
    disposables.add(
      vscode.languages.registerCodeLensProvider({ language: MODEL_TEXT_LANGUAGE, scheme: 'untitled' }, this),
    );
    disposables.add(vscode.workspace.registerTextDocumentContentProvider(REPLY_SCHEME, this));
    disposables.add(
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        this.#calls.delete(uri.toString());
        this.#replies.delete(uri.toString());
      }),
    );
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    if (!this.#calls.has(uri.toString())) return [];
    const command = { title: `$(play) ${l10n.t('Ask Models…')}`, command: 'farwharf.tryPrompt', arguments: [uri] };
    return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command)];
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#replies.get(uri.toString()) ?? '';
  }

  /** Lets the user choose a model call of a flow's last run, and opens it as a document. */
  async open(target: FlowTarget | undefined): Promise<void> {
    const found = await findFlow(this.#deps.documents, target);
    if (found === undefined) return;
    const calls = await this.#deps.queries.calls(found.document.uri.fsPath);
    if (calls.length === 0) {
      const message = l10n.t('No run of {0} has called a language model yet. Run it first.', found.flow.label);
      throw new AppError('missing', message);
    }
    const items = calls.map((call) => ({
      label: withoutIcons(placeOfCall(call)),
      description: withoutIcons(costOf(call)),
      detail: withoutIcons(begin(call)),
      call,
    }));
    const picked = await pickRow(items, {
      title: l10n.t('Prompts of {0}', found.flow.label),
      placeHolder: l10n.t('Which one do you want to try?'),
      matchOnDetail: true,
    });
    if (picked === undefined) return;
    const document = await vscode.workspace.openTextDocument({
      language: MODEL_TEXT_LANGUAGE,
      content: promptDocument(picked.call),
    });
    this.#calls.set(document.uri.toString(), picked.call);
    await vscode.window.showTextDocument(document);
  }

  /** Sends an open prompt to models that the user chooses. */
  async ask(uri: vscode.Uri | undefined): Promise<void> {
    requireTrust();
    const document = openDocument(uri ?? vscode.window.activeTextEditor?.document.uri);
    const messages = readPromptDocument(document?.getText() ?? '');
    if (document === undefined || messages.length === 0) {
      throw new AppError('bad-input', l10n.t('A prompt needs a section "## user" with what to ask.'));
    }
    const models = await promptModels(this.#calls.get(document.uri.toString()), this.#deps.keys);
    const items = models.map((model, index) => ({
      label: withoutIcons(model.name),
      description: withoutIcons(model.place),
      picked: index === 0,
      model,
    }));
    const picked = await pickRows(items, { title: l10n.t('Ask which models?') });
    if (picked === undefined || picked.length === 0) return;
    await this.#askAll(
      picked.map(({ model }) => model),
      messages,
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #askAll(models: readonly PromptModel[], messages: PromptMessages): Promise<void> {
    const uri = vscode.Uri.from({ scheme: REPLY_SCHEME, path: `${MODEL_TEXT_FOLDER}Answers`, query: randomUUID() });
    const tried: TriedPrompt[] = models.map(({ name }) => ({ model: name, reply: undefined }));
    const show = (): void => {
      this.#replies.set(uri.toString(), replyDocument(tried));
      this.#changed.fire(uri);
    };
    show();
    await vscode.window.showTextDocument(uri, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: false,
    });
    await showCancellable(l10n.t('Asking models'), (signal) =>
      Promise.all(
        models.map(async (model, index) => {
          const answer = await model.ask(messages, signal).catch((error: unknown) => ({
            reply: '',
            failure: isAbort(error) ? l10n.t('Stopped.') : explain(error).sentence,
          }));
          tried[index] = { model: model.name, ...answer, reply: printableText(answer.reply ?? '') };
          show();
        }),
      ),
    );
  }
}

function openDocument(uri: vscode.Uri | undefined): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri?.toString());
}

function placeOfCall({ path, visit }: RecordedModelCall): string {
  if (path === undefined) return l10n.t('outside of a node');
  return visit === undefined || visit === 1 ? path : l10n.t('{0} (visit {1})', path, visit);
}

function costOf({ model, inputTokens = 0, outputTokens = 0, cost, durationMs }: RecordedModelCall): string {
  const parts = [
    model,
    formatDuration(durationMs / 1000),
    plural(inputTokens + outputTokens, l10n.t('1 token'), l10n.t('{0} tokens')),
    ...(cost === undefined ? [] : [formatDollars(cost)]),
  ];
  return printableLine(parts.join(' · '));
}

function begin({ messages }: RecordedModelCall): string {
  return printableLine((messages.at(-1)?.content ?? '').slice(0, 200)).replaceAll(/\s+/g, ' ');
}

/** All available models: that of the recorded call first, then the editor's, then those of services with a key. */
async function promptModels(
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
