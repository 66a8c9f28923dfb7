import * as l10n from '@vscode/l10n';
import { formatBytes, formatInteger } from '../../../core/text/format.ts';
import { pickMany } from '../../ui/picks.ts';
import { describeExclusion } from '../../../jobs/selection/exclusions.ts';
import type { Exclusion } from '../../../workspace/select/selection.ts';
import { preflightTitle } from './preflightItems.ts';
import type { SubmitDraft } from '../../../jobs/plan/draft.ts';
import type { SubmitView } from './submitView.ts';
import { type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

interface PathItem extends PickItem {
  readonly path: string;
}

/** Shows the files to send, the largest first. Unchecked files are left out. */
export async function pickExcluded(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft, selection } = view;
  const items: PathItem[] = [
    ...selection.largest.map(({ path, size }) => ({
      label: withoutIcons(path),
      description: label`${formatBytes(size)}`,
      path,
      picked: true,
    })),
    ...excludedItems(draft),
  ];
  const more =
    selection.fileCount > selection.largest.length
      ? [l10n.t('Only the largest {0} files are listed.', formatInteger(selection.largest.length))]
      : [];
  const chosen = await pickMany<PathItem>({
    title: l10n.t('{0}: files sent', preflightTitle(view)),
    placeholder: [l10n.t('Clear the files to leave out.'), ...more].join(' '),
    items,
    hasBack: true,
  });
  if (chosen === undefined || chosen === 'back') return chosen;
  const ticked = new Set(chosen.map(({ path }) => path));
  return { ...draft, exclude: items.filter(({ path }) => !ticked.has(path)).map(({ path }) => path) };
}

/** Shows the paths that are left out and why, secrets first. Checked paths are sent. */
export async function pickIncluded(view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { draft, selection } = view;
  const items: PathItem[] = [
    ...draft.include
      .filter((path) => !draft.exclude.includes(path))
      .map((path) => ({
        label: withoutIcons(path),
        description: label`${l10n.t('you included this')}`,
        path,
        picked: true,
      })),
    ...excludedItems(draft),
    // A folder that the user left out is sent again as a whole, not its files one by one.
    ...selection.listedExclusions
      .filter(({ reason }) => reason !== 'user')
      .map((exclusion) => ({
        label: exclusion.reason === 'secret' ? label`$(shield) ${nameOf(exclusion)}` : withoutIcons(nameOf(exclusion)),
        description: withoutIcons(describeExclusion(exclusion)),
        path: exclusion.path,
        picked: false,
      })),
  ];
  const chosen = await pickMany<PathItem>({
    title: l10n.t('{0}: left out', preflightTitle(view)),
    placeholder: items.length === 0 ? l10n.t('Nothing is left out.') : l10n.t('Select the paths to send anyway.'),
    items,
    hasBack: true,
  });
  if (chosen === undefined || chosen === 'back') return chosen;
  const ticked = new Set(chosen.map(({ path }) => path));
  const exclude = draft.exclude.filter((path) => !ticked.has(path));
  return { ...draft, include: [...ticked].filter((path) => !draft.exclude.includes(path)), exclude };
}

function excludedItems({ exclude }: SubmitDraft): readonly PathItem[] {
  const description = label`${l10n.t('excluded by you')}`;
  return exclude.map((path) => ({ label: withoutIcons(path), description, path, picked: false }));
}

function nameOf({ path, type }: Exclusion): string {
  return type === 'directory' ? `${path}/` : path;
}
