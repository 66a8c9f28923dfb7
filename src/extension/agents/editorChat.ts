import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';

/** A chat message. VS Code's models have no system messages, so those are sent as the user's. */
interface ChatText {
  readonly role: string;
  readonly content?: string | null | undefined;
}

/**
 * Sends messages to a model of VS Code and yields its answer as it arrives. On first use, VS Code asks for consent and shows `purpose`.
 *
 * @throws AppError with what to do, or the signal's reason.
 */
export async function* streamEditorChat(
  model: vscode.LanguageModelChat,
  messages: readonly ChatText[],
  { purpose, signal }: { readonly purpose: string; readonly signal: AbortSignal },
): AsyncGenerator<string, void> {
  signal.throwIfAborted();
  const cancelling = new vscode.CancellationTokenSource();
  const cancel = (): void => cancelling.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const response = await model.sendRequest(messages.map(toMessage), { justification: purpose }, cancelling.token);
    yield* response.text;
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof vscode.LanguageModelError ? toAppError(error, model.name) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel(); // also if the answer is not read to its end
    cancelling.dispose();
  }
}

function toMessage({ role, content }: ChatText): vscode.LanguageModelChatMessage {
  const text = content ?? '';
  return role === 'assistant'
    ? vscode.LanguageModelChatMessage.Assistant(text)
    : vscode.LanguageModelChatMessage.User(text);
}

function toAppError(error: vscode.LanguageModelError, name: string): AppError {
  const isForbidden = error.code === 'NoPermissions';
  const sentence = isForbidden
    ? l10n.t('Access to {0} was denied. Ask again to allow it.', name)
    : error.code === 'Blocked'
      ? l10n.t('{0} is blocked: its quota is used up, or it refused the request. {1}', name, error.message)
      : error.code === 'NotFound'
        ? l10n.t('{0} is no longer available. Select another model.', name)
        : l10n.t('{0} failed: {1}', name, error.message);
  return new AppError(isForbidden ? 'permission' : 'unreachable', sentence, { cause: error });
}
