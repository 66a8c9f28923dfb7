import * as l10n from '@vscode/l10n';
import { formatBytes, plural } from '../../core/text/format.ts';
import { printableLine, printableText } from '../../core/text/printable.ts';
import { citedExcerpts } from './citations.ts';
import type { Excerpt, Turn } from './excerpts.ts';

type AnswerState = 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';

/** A turn of a conversation and its outcome. */
export interface AnswerTurn extends Turn {
  readonly state: AnswerState;
  /** Why it failed, for the user. */
  readonly problem: string;
  /** Display names of the model and of where it runs. */
  readonly model: string;
  readonly place: string;
  /** Bytes that were sent. */
  readonly sentBytes: number;
}

/** The document of a conversation: each question with its answer, the excerpts that the answer cites, and the others that were sent. */
export function answerText(turns: readonly AnswerTurn[]): string {
  return `${turns.map(turnText).join('\n\n')}\n`;
}

function turnText(turn: AnswerTurn): string {
  const { question, answer, excerpts, state } = turn;
  const parts = [`# ${printableLine(question).replaceAll(/\s+/g, ' ').trim()}`];
  if (answer !== '') parts.push(printableText(answer).trimEnd());
  parts.push(stateText(turn));
  // The lists would change with each word that arrives.
  const cited = state === 'streaming' ? [] : citedExcerpts(answer, excerpts);
  const others = excerpts.filter((excerpt) => !cited.includes(excerpt));
  if (cited.length > 0) parts.push(sourceList(l10n.t('Sources:'), cited));
  if (others.length > 0) parts.push(sourceList(cited.length > 0 ? l10n.t('Also sent:') : l10n.t('Sent:'), others));
  return parts.filter((part) => part !== '').join('\n\n');
}

function stateText({ state, problem, model, place, sentBytes, excerpts }: AnswerTurn): string {
  const files = new Set(excerpts.map(({ file }) => file)).size;
  const what = l10n.t(
    '{0} from {1}, {2}',
    plural(excerpts.length, l10n.t('1 excerpt'), l10n.t('{0} excerpts')),
    plural(files, l10n.t('1 file'), l10n.t('{0} files')),
    formatBytes(sentBytes),
  );
  const texts: Readonly<Record<AnswerState, string>> = {
    waiting: `_${l10n.t('Sent {0} to {1} at {2}. Waiting for the answer…', what, model, place)}_`,
    streaming: '…',
    done: `_${l10n.t('Answer of {0} at {1}, which received {2}.', model, place, what)}_`,
    stopped: `_${l10n.t('Stopped. {0} at {1} received {2}.', model, place, what)}_`,
    failed: `**${l10n.t('No answer:')}** ${printableLine(problem)}`,
  };
  return texts[state];
}

function sourceList(title: string, excerpts: readonly Excerpt[]): string {
  return [title, '', ...excerpts.map(sourceLine)].join('\n');
}

function sourceLine({ number, path, startLine, endLine }: Excerpt): string {
  return `- [${number}] ${printableLine(path)}:${startLine}-${endLine}`;
}
