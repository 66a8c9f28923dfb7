import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { isAbort } from '../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import type { Logger } from '../../core/log.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import { explain } from '../ui/errorText.ts';
import { MODEL_TEXT_FOLDER } from '../ui/modelText.ts';
import { type AnswerTurn, answerText } from './answerText.ts';
import { findCitations } from './citations.ts';
import { type Excerpt, messagesOf, sizeOf } from './excerpts.ts';
import type { AnswerModel } from '../agents/models.ts';

const ANSWER_SCHEME = 'farwharf-answer';
// At most ten updates per second: each crosses to the window and lays out its editor again.
const DRAW_AFTER_MS = 100;

/** Questions and answers in one document. */
export interface Conversation {
  readonly id: string;
  readonly uri: vscode.Uri;
  turns: readonly AnswerTurn[];
  /** Aborts the answer in progress. */
  stop: AbortController | undefined;
}

/** The documents of conversations: read-only text that grows while the answer arrives, with links to cited code and actions above it. */
export class Answers
  implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.CodeLensProvider, Disposable
{
  readonly #conversations = new Map<string, Conversation>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly #disposables = new DisposableStore();
  readonly #contexts: ContextKeys;
  readonly #log: Logger;
  readonly onDidChange = this.#changed.event;
  readonly onDidChangeCodeLenses = this.#lensesChanged.event;

  constructor({ contexts, log }: { contexts: ContextKeys; log: Logger }) {
    this.#contexts = contexts;
    this.#log = log;
    const selector = { scheme: ANSWER_SCHEME };
    for (const item of [
      this.#changed,
      this.#lensesChanged,
      vscode.workspace.registerTextDocumentContentProvider(ANSWER_SCHEME, this),
      vscode.languages.registerDocumentLinkProvider(selector, this),
      vscode.languages.registerCodeLensProvider(selector, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        if (uri.scheme === ANSWER_SCHEME) this.find(uri)?.stop?.abort(); // nobody is reading it
      }),
    ]) {
      this.#disposables.add(item);
    }
  }

  /** The conversation of a document, by default that of the active editor. */
  find(uri = vscode.window.activeTextEditor?.document.uri): Conversation | undefined {
    return uri?.scheme === ANSWER_SCHEME ? this.#conversations.get(uri.query) : undefined;
  }

  create(question: string): Conversation {
    const id = randomUUID();
    const name =
      question
        .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
        .trim()
        .slice(0, 50) || 'Answer';
    const uri = vscode.Uri.from({ scheme: ANSWER_SCHEME, path: MODEL_TEXT_FOLDER + name, query: id });
    const conversation: Conversation = { id, uri, turns: [], stop: undefined };
    this.#conversations.set(id, conversation);
    return conversation;
  }

  /** Sends a question with these excerpts and writes the answer into the document as it arrives. Failures are shown there too. */
  async ask(
    conversation: Conversation,
    question: string,
    { excerpts, model }: { excerpts: readonly Excerpt[]; model: AnswerModel },
  ): Promise<void> {
    const earlier = conversation.turns.filter(({ answer }) => answer !== '');
    const messages = messagesOf([...earlier, { question, excerpts, answer: '' }]);
    let turn: AnswerTurn = {
      question,
      excerpts,
      answer: '',
      state: 'waiting',
      problem: '',
      model: model.name,
      place: model.place,
      sentBytes: sizeOf(messages),
    };
    const before = conversation.turns;
    const stop = new AbortController();
    conversation.stop = stop;
    const draw = (news: Partial<AnswerTurn>): void => {
      turn = { ...turn, ...news };
      conversation.turns = [...before, turn];
      this.#changed.fire(conversation.uri);
    };
    draw({});
    this.#update();
    await this.#show(conversation, before.length > 0);
    let answer = '';
    try {
      let drawnAt = 0;
      for await (const piece of model.stream(messages, stop.signal)) {
        answer += piece;
        if (performance.now() - drawnAt < DRAW_AFTER_MS) continue;
        drawnAt = performance.now();
        draw({ answer, state: 'streaming' });
      }
      draw({ answer, state: 'done' });
    } catch (error) {
      if (stop.signal.aborted || isAbort(error)) draw({ answer, state: 'stopped' });
      else {
        this.#log.error('an answer failed', { error });
        draw({ answer, state: 'failed', problem: explain(error).sentence });
      }
    } finally {
      conversation.stop = undefined;
      this.#update();
    }
  }

  provideTextDocumentContent({ query }: vscode.Uri): string {
    const conversation = this.#conversations.get(query);
    return conversation === undefined
      ? `${l10n.t('Answers are lost when the window is closed or reloaded. Ask the question again.')}\n`
      : answerText(conversation.turns);
  }

  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    const excerpts = this.find(document.uri)?.turns.flatMap((turn) => turn.excerpts) ?? [];
    return findCitations(document.getText(), excerpts).map(({ start, end, file, firstLine, lastLine }) => {
      const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
      // VS Code reads the selection from the fragment; it ends before the first column of the next line.
      const target = vscode.Uri.file(file).with({ fragment: `L${firstLine},1-L${lastLine + 1},1` });
      const link = new vscode.DocumentLink(range, target);
      link.tooltip = l10n.t('Open the cited lines');
      return link;
    });
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const conversation = this.find(document.uri);
    if (conversation === undefined) return [];
    const isFailed = conversation.turns.at(-1)?.state === 'failed';
    const offered: readonly (readonly [string, string])[] =
      conversation.stop === undefined
        ? [
            ...(isFailed ? ([[`$(refresh) ${l10n.t('Try Again')}`, 'farwharf.askAgain']] as const) : []),
            [`$(comment-discussion) ${l10n.t('Ask Follow-Up')}`, 'farwharf.askFollowUp'],
            ...(isFailed ? [] : ([[`$(refresh) ${l10n.t('Ask Again')}`, 'farwharf.askAgain']] as const)),
            [`$(sparkle) ${l10n.t('Select Model')}`, 'farwharf.selectModel'],
          ]
        : [[`$(debug-stop) ${l10n.t('Stop')}`, 'farwharf.stopAnswer']];
    // Above the last question, where the reader is.
    const line = conversation.turns.length > 1 ? answerText(conversation.turns.slice(0, -1)).split('\n').length : 0;
    const range = new vscode.Range(line, 0, line, 0);
    return offered.map(
      ([title, command]) => new vscode.CodeLens(range, { title, command, arguments: [conversation.uri] }),
    );
  }

  dispose(): void {
    for (const { stop } of this.#conversations.values()) stop?.abort();
    this.#disposables.dispose();
  }

  async #show({ uri }: Conversation, isLonger: boolean): Promise<void> {
    const editor = await vscode.window.showTextDocument(uri, { preview: false });
    if (!isLonger) return;
    const { document } = editor;
    const end = document.lineAt(document.lineCount - 1).range;
    editor.revealRange(end, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  #update(): void {
    const isAnswering = [...this.#conversations.values()].some(({ stop }) => stop !== undefined);
    this.#contexts.set('answering', isAnswering);
    this.#lensesChanged.fire();
  }
}
