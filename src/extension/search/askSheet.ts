import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatBytes, plural } from '../../core/text/format.ts';
import type { TextMatches } from '../../retrieval/index/highlights.ts';
import { type Excerpt, messagesOf, readableMessages, sizeOf, type Turn } from './excerpts.ts';
import type { AnswerModel } from '../agents/models.ts';
import { bestLineText } from './searchRow.ts';
import { MODEL_TEXT_LANGUAGE } from '../ui/modelText.ts';
import { createPick, type PickItem } from '../ui/show.ts';
import { withoutIcons, label } from '../ui/labels.ts';

// How much is checked at first: about 3,000 tokens, which small local models can process too.
const TICKED_CHARACTERS = 12_000;

export interface AskDraft {
  readonly question: string;
  /** The search results for the question, best first. */
  readonly found: readonly Excerpt[];
  /** The parts of each result that match the question, in the order of `found`. */
  readonly matches: readonly TextMatches[];
  /** Earlier turns, which are sent too. */
  readonly earlier: readonly Turn[];
  readonly model: AnswerModel;
  /** Why the results may be incomplete; empty if they are complete. */
  readonly caveat: string;
}

interface ExcerptItem extends PickItem {
  readonly excerpt: Excerpt;
}

/** The decision: send these excerpts, select another model first, or cancel. */
export type AskDecision =
  | { readonly type: 'send'; readonly excerpts: readonly Excerpt[] }
  | { readonly type: 'model' }
  | undefined;

/** Shows what would be sent, and to which model, before it is sent. Unchecked excerpts are not sent. */
export function confirmAsk(draft: AskDraft): Promise<AskDecision> {
  const { model, question, found, matches, earlier, caveat } = draft;
  const pick = createPick<ExcerptItem>();
  const changeModel = { iconPath: new vscode.ThemeIcon('sparkle'), tooltip: l10n.t('Select another model') };
  const showText = { iconPath: new vscode.ThemeIcon('eye'), tooltip: l10n.t('Show exactly what is sent') };
  const openFile = { iconPath: new vscode.ThemeIcon('go-to-file'), tooltip: l10n.t('Open in editor') };
  const turns = (): Turn[] => [
    ...earlier,
    { question, excerpts: pick.selectedItems.map(({ excerpt }) => excerpt), answer: '' },
  ];
  const update = (): void => {
    const excerpts = pick.selectedItems.map(({ excerpt }) => excerpt);
    const files = new Set(excerpts.map(({ file }) => file)).size;
    const size = formatBytes(sizeOf(messagesOf(turns())));
    const amount = l10n.t(
      '{0} from {1}, {2}',
      plural(excerpts.length, l10n.t('1 excerpt'), l10n.t('{0} excerpts')),
      plural(files, l10n.t('1 file'), l10n.t('{0} files')),
      size,
    );
    const sends =
      earlier.length > 0
        ? l10n.t('Sends {0}, with the conversation so far. Clear what should not be sent.', amount)
        : l10n.t('Sends {0}. Clear what should not be sent.', amount);
    pick.placeholder =
      excerpts.length === 0 && earlier.length === 0
        ? label`${l10n.t('Select at least one excerpt to send')}`
        : label`${sends}`;
  };
  pick.title = label`${[l10n.t('Ask {0} at {1}', model.name, model.place), ...(caveat === '' ? [] : [caveat])].join(' · ')}`;
  pick.canSelectMany = true;
  pick.ignoreFocusOut = true;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.buttons = [showText, changeModel];
  pick.items = found.map((excerpt, at) => ({ ...excerptRow(excerpt, matches[at]), buttons: [openFile], excerpt }));
  pick.selectedItems = firstItems(pick.items);
  update();

  return new Promise((resolve) => {
    const decide = (decision: AskDecision): void => {
      resolve(decision);
      pick.hide();
    };
    pick.onDidChangeSelection(update);
    pick.onDidTriggerButton((button) => {
      if (button === changeModel) decide({ type: 'model' });
      else void showMessages(turns());
    });
    pick.onDidTriggerItemButton(({ item: { excerpt } }) => void openExcerpt(excerpt));
    pick.onDidAccept(() => {
      const excerpts = pick.selectedItems.map(({ excerpt }) => excerpt);
      if (excerpts.length > 0 || earlier.length > 0) decide({ type: 'send', excerpts });
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

function excerptRow(
  { path, startLine, endLine, text }: Excerpt,
  matches: TextMatches = { highlights: [], bestLine: 0 },
): PickItem {
  return {
    label: withoutIcons(`${path}:${startLine}-${endLine}`),
    description: label`${formatBytes(Buffer.byteLength(text))}`,
    detail: bestLineText(text, matches),
  };
}

/** The best excerpts within the limit, and always the first. */
function firstItems(items: readonly ExcerptItem[]): readonly ExcerptItem[] {
  let characters = 0;
  return items.filter(({ excerpt }, index) => {
    characters += excerpt.text.length;
    return index === 0 || characters <= TICKED_CHARACTERS;
  });
}

/** The exact text, in an editor behind the list. */
async function showMessages(turns: readonly Turn[]): Promise<void> {
  const content = readableMessages(messagesOf(turns));
  const document = await vscode.workspace.openTextDocument({ content, language: MODEL_TEXT_LANGUAGE });
  await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
}

async function openExcerpt({ file, startLine, endLine }: Excerpt): Promise<void> {
  const selection = new vscode.Range(startLine - 1, 0, endLine, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: true, preserveFocus: true, selection });
}
