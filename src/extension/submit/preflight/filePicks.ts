import { formatBytes, formatCount } from '../../../core/text/format.ts';
import { pickMany } from '../../ui/picks.ts';
import { preflightTitle } from './preflightItems.ts';
import { exclusionReason, largestFiles } from './preflightText.ts';
import type { SubmitDraft, SubmitView } from './submitDraft.ts';
import { type PickItem } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';

// A list of every file of a huge folder would take seconds to draw; the largest ones are those worth taking out.
const MAX_ROWS = 5000;

interface PathItem extends PickItem {
  readonly path: string;
}

/** Shows the files that are sent, the largest first; unticked ones stay here. */
export async function pickExcluded(draft: SubmitDraft, view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const { files } = view.selection;
  const items: PathItem[] = [
    ...largestFiles(files, MAX_ROWS).map(({ path, size }) => ({
      label: withoutIcons(path),
      description: label`${formatBytes(size)}`,
      path,
      picked: true,
    })),
    ...draft.exclude.map((path) => ({
      label: withoutIcons(path),
      description: label`left out by you`,
      path,
      picked: false,
    })),
  ];
  const more = files.length > MAX_ROWS ? ` The largest ${formatCount(MAX_ROWS, 'file')} are listed.` : '';
  const chosen = await pickMany<PathItem>({
    title: `${preflightTitle(view)}: files sent`,
    placeholder: `Untick what should stay here.${more}`,
    items,
    hasBack: true,
  });
  if (chosen === undefined || chosen === 'back') return chosen;
  const ticked = new Set(chosen.map(({ path }) => path));
  return { ...draft, exclude: items.filter(({ path }) => !ticked.has(path)).map(({ path }) => path) };
}

/** Shows what is left out, and why, with secrets first; ticked ones are sent all the same. */
export async function pickIncluded(draft: SubmitDraft, view: SubmitView): Promise<SubmitDraft | 'back' | undefined> {
  const excluded = view.selection.excluded.toSorted(
    (a, b) => Number(b.reason === 'secret') - Number(a.reason === 'secret'),
  );
  const items: PathItem[] = [
    ...draft.include.map((path) => ({
      label: withoutIcons(path),
      description: label`sent because you chose it`,
      path,
      picked: true,
    })),
    ...excluded.slice(0, MAX_ROWS).map((exclusion) => ({
      label: label`${exclusion.reason === 'secret' ? '$(shield) ' : ''}${exclusion.path}${exclusion.type === 'directory' ? '/' : ''}`,
      description: withoutIcons(exclusionReason(exclusion)),
      path: exclusion.path,
      picked: false,
    })),
  ];
  const chosen = await pickMany<PathItem>({
    title: `${preflightTitle(view)}: left out`,
    placeholder: items.length === 0 ? 'Nothing is left out.' : 'Tick what should be sent all the same.',
    items,
    hasBack: true,
  });
  return chosen === undefined || chosen === 'back' ? chosen : { ...draft, include: chosen.map(({ path }) => path) };
}
