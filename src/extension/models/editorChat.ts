import * as vscode from 'vscode';
import { AppError } from '../../core/errors.ts';

/** A message as all chat models know it. The editor's models know no system messages: what they say comes as the user's. */
interface ChatText {
  readonly role: string;
  readonly content?: string | null | undefined;
}

/**
 * Asks a model that VS Code offers, and yields its answer as it comes. VS Code asks for consent, with the purpose, at the first time.
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
    throw error instanceof vscode.LanguageModelError ? explained(error, model.name) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel(); // also where the answer is not read to its end
    cancelling.dispose();
  }
}

function toMessage({ role, content }: ChatText): vscode.LanguageModelChatMessage {
  const text = content ?? '';
  return role === 'assistant'
    ? vscode.LanguageModelChatMessage.Assistant(text)
    : vscode.LanguageModelChatMessage.User(text);
}

function explained(error: vscode.LanguageModelError, name: string): AppError {
  const isForbidden = error.code === 'NoPermissions';
  const sentence = isForbidden
    ? `VS Code was not allowed to use ${name} for this. Ask again to be asked again.`
    : error.code === 'Blocked'
      ? `${name} is blocked: its quota is used up, or it refused the request. ${error.message}`
      : error.code === 'NotFound'
        ? `${name} is not there any more. Select another model.`
        : `${name} failed: ${error.message}`;
  return new AppError(isForbidden ? 'permission' : 'unreachable', sentence, { cause: error });
}
