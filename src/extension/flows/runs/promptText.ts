import * as l10n from '@vscode/l10n';
import { formatDollars, formatDuration } from '../../../core/text/format.ts';
import type { RecordedModelCall } from '../../../flows/run/history/modelCalls.ts';

export type PromptMessages = RecordedModelCall['messages'];

const HEADING = /^## (system|user|assistant)[ \t]*$/gm;

/** A recorded call as a document to edit: a section for each message. */
export function promptDocument({
  path,
  visit,
  messages,
}: Pick<RecordedModelCall, 'path' | 'visit' | 'messages'>): string {
  const where =
    path === undefined
      ? l10n.t('a flow')
      : visit === undefined || visit === 1
        ? path
        : l10n.t('{0}, visit {1}', path, visit);
  const sections = messages.map(({ role, content }) => `## ${role}\n\n${content}\n`);
  return `# ${l10n.t('Prompt of {0}', where)}\n\n${sections.join('\n')}`;
}

/** The messages in such a document; text above the first section is ignored. */
export function readPromptDocument(text: string): PromptMessages {
  const headings = [...text.matchAll(HEADING)];
  return headings.map((heading, index) => {
    const start = heading.index + heading[0].length;
    const end = headings[index + 1]?.index ?? text.length;
    return { role: heading[1] ?? 'user', content: text.slice(start, end).trim() };
  });
}

/** The reply of a model with its costs. */
export interface TriedPrompt {
  readonly model: string;
  /** Undefined while waiting for it. */
  readonly reply: string | undefined;
  readonly failure?: string;
  readonly seconds?: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** US dollars by list price, if known. */
  readonly cost?: number | undefined;
}

/** The replies of several models: a table of their costs, then each reply. */
export function replyDocument(tried: readonly TriedPrompt[]): string {
  const rows = tried.map((one) => {
    const cost = one.cost === undefined ? '' : formatDollars(one.cost);
    const cells = [one.model, timeOf(one), one.inputTokens ?? '', one.outputTokens ?? '', cost];
    return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const names = [l10n.t('Model'), l10n.t('Time'), l10n.t('Tokens in'), l10n.t('Tokens out'), l10n.t('Cost')];
  const table = [`| ${names.join(' | ')} |`, '| :-- | --: | --: | --: | --: |', ...rows];
  const answers = tried.map(
    ({ model, reply, failure }) => `## ${model}\n\n${failure ?? reply ?? `*${l10n.t('Waiting for the answer…')}*`}\n`,
  );
  return `# ${l10n.t('Answers')}\n\n${table.join('\n')}\n\n${answers.join('\n')}`;
}

function timeOf({ reply, failure, seconds }: TriedPrompt): string {
  if (failure !== undefined) return l10n.t('failed');
  return reply === undefined || seconds === undefined ? '…' : formatDuration(seconds);
}
