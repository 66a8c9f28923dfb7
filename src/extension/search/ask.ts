import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../core/errors.ts';
import type { SearchHit } from '../../retrieval/server/indexServer.ts';
import { parseQuery } from '../../retrieval/search/query.ts';
import { requireTrust } from '../workspace/folders.ts';
import type { Conversation } from './answers.ts';
import { confirmAsk } from './askSheet.ts';
import { type Excerpt, toExcerpts } from './excerpts.ts';
import { indexState, nothingFound } from './index/indexText.ts';
import { type AnswerModel, openModel } from '../agents/models.ts';
import { selectModel } from '../agents/modelPick.ts';
import type { Search } from './search.ts';
import { type AskedResults, requireFolder } from './searchFolder.ts';
import { askText } from '../ui/show.ts';

const LIMIT = 20;

/** Asks a question about the folder. Matching excerpts are found on this machine, shown, and sent only if the user agrees. */
export async function askFolder(search: Search, results?: AskedResults): Promise<void> {
  requireTrust();
  requireFolder();
  const answerable = await askQuestion(search, { title: l10n.t('Ask Folder'), value: results?.query ?? '', results });
  if (answerable === undefined) return;
  const { question, hits } = answerable;
  const conversation = search.answers.create(question);
  await sendConfirmed(search, conversation, { question, hits });
}

/** Continues a conversation: searches for the new question, and sends the conversation so far again. */
export async function continueConversation(search: Search, document: vscode.Uri | undefined): Promise<void> {
  requireTrust();
  const conversation = requireConversation(search, document);
  if (conversation.stop !== undefined)
    throw new AppError('conflict', l10n.t('The answer is still being written. Stop it first.'));
  const first = conversation.turns[0]?.question ?? '';
  const answerable = await askQuestion(search, { title: l10n.t('Ask Follow-Up'), value: '', context: first });
  if (answerable !== undefined) await sendConfirmed(search, conversation, answerable);
}

/** Sends the last question of a conversation again, with the same excerpts, to the model that is selected now. */
export async function askLastAgain(search: Search, document: vscode.Uri | undefined): Promise<void> {
  requireTrust();
  const conversation = requireConversation(search, document);
  const last = conversation.turns.at(-1);
  if (last === undefined || conversation.stop !== undefined) return;
  const { question, excerpts } = last;
  await send(search, conversation, { question, found: excerpts, isAgain: true });
}

export function stopAnswer(search: Search, document: vscode.Uri | undefined): void {
  requireConversation(search, document).stop?.abort();
}

interface FoundQuestion {
  readonly question: string;
  readonly hits: readonly SearchHit[];
}

/** Asks until the search finds something, since otherwise there is nothing to send. */
async function askQuestion(
  search: Search,
  {
    title,
    value,
    results,
    context,
  }: { title: string; value: string; results?: AskedResults | undefined; context?: string },
): Promise<FoundQuestion | undefined> {
  const { index } = search;
  let question: string | undefined = value;
  let problem = '';
  for (;;) {
    question = await askText({
      title,
      prompt:
        problem || l10n.t('Farwharf searches the folder on this machine. Before anything is sent, you see what it is.'),
      placeHolder: l10n.t('How does …? Where is …?'),
      value: question,
      ignoreFocusOut: true,
    });
    if (question === undefined || question.trim() === '') return undefined;
    if (results !== undefined) return { question, hits: results.hits };
    const hitsOf = (text: string): Promise<readonly SearchHit[]> =>
      index.call((server) => server.searchFolders(text, { limit: LIMIT }));
    const direct = await hitsOf(question);
    // "And why?" has no search terms of its own, so the first question is searched again.
    const hits = direct.length > 0 || context === undefined ? direct : await hitsOf(context);
    if (hits.length > 0) return { question, hits };
    problem = `${nothingFound(index.status, index.isPaused)} ${l10n.t('Nothing was sent. Rephrase the question.')}`;
  }
}

async function sendConfirmed(
  search: Search,
  conversation: Conversation,
  { question, hits }: FoundQuestion,
): Promise<void> {
  const excerptsSoFar = conversation.turns.flatMap(({ excerpts }) => excerpts);
  const folders = vscode.workspace.workspaceFolders ?? [];
  const nameOf = (folder: string): string | undefined =>
    folders.length > 1 ? folders.find(({ uri }) => uri.fsPath === folder)?.name : undefined;
  const firstNumber = 1 + Math.max(0, ...excerptsSoFar.map(({ number }) => number));
  const fresh = toExcerpts(hits, { firstNumber, nameOf }).filter(
    ({ file, startLine }) => !excerptsSoFar.some((other) => other.file === file && other.startLine === startLine),
  );
  await send(search, conversation, { question, found: fresh, isAgain: false });
}

async function send(
  search: Search,
  conversation: Conversation,
  { question, found, isAgain }: { question: string; found: readonly Excerpt[]; isAgain: boolean },
): Promise<void> {
  const { answers, index, modelKeys } = search;
  const turns = isAgain ? conversation.turns.slice(0, -1) : conversation.turns;
  const caveat = indexState(index.status, index.isPaused);
  const texts = found.map(({ text }) => text);
  const { text, prefixes } = parseQuery(question);
  const matches = await index.call((server) => server.highlight({ text, prefixes }, texts));
  let model = await requireModel(search);
  while (model !== undefined) {
    const earlier = turns.filter(({ answer }) => answer !== '');
    const decision = await confirmAsk({
      question,
      found,
      matches,
      earlier,
      model,
      caveat: caveat && l10n.t('index {0}', caveat),
    });
    if (decision === undefined) return;
    if (decision.type === 'send') {
      conversation.turns = turns;
      const { excerpts } = decision;
      await answers.ask(conversation, question, { excerpts, model });
      return;
    }
    if (await selectModel(modelKeys)) model = await openModel(modelKeys);
  }
}

/** The selected model; if there is none, the user selects one now. */
async function requireModel({ modelKeys }: Search): Promise<AnswerModel | undefined> {
  const model = await openModel(modelKeys);
  if (model !== undefined || !(await selectModel(modelKeys))) return model;
  return openModel(modelKeys);
}

function requireConversation({ answers }: Search, document: vscode.Uri | undefined): Conversation {
  const conversation = answers.find(document);
  if (conversation !== undefined) return conversation;
  throw new AppError('missing', l10n.t('No answer is open. Ask the folder something first.'));
}
