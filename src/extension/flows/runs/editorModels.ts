import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import { type BridgedModels, ModelBridge } from '../../../flows/run/start/modelBridge.ts';
import type { Keys } from '../../account/keys.ts';
import { streamEditorChat } from '../../agents/editorChat.ts';
import { selectedForFlows } from '../../agents/models.ts';

/** The models that VS Code offers, for the children that run flows: the provider `vscode`. */
const editorModels: BridgedModels = {
  async *complete({ model, messages }, signal) {
    yield* streamEditorChat(await choose(model), messages, { purpose: l10n.t('For a flow that you run.'), signal });
  },

  async countTokens(text, model) {
    return (await choose(model)).countTokens(text);
  },

  async list() {
    return (await vscode.lm.selectChatModels()).map(({ id }) => id);
  },
};

/** Opens a bridge to the models of this window, and to the selected one for a flow that names none. @throws AppError as `selectedForFlows`. */
export async function openModelBridge(keys: Keys): Promise<ModelBridge> {
  return ModelBridge.open(editorModels, await selectedForFlows(keys));
}

async function choose(id: string): Promise<vscode.LanguageModelChat> {
  const [model] = await vscode.lm.selectChatModels(id === 'auto' ? {} : { id });
  if (model !== undefined) return model;
  const message =
    id === 'auto'
      ? l10n.t(
          'VS Code has no language model. Sign in to one, such as GitHub Copilot, or choose another provider in the flow.',
        )
      : l10n.t('VS Code has no language model "{0}".', id);
  throw new AppError('missing', message);
}
