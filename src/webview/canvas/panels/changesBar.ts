import * as l10n from '@vscode/l10n';
import { CHANGE_KINDS } from '../../../flows/project/flowChanges.ts';
import type { Versions } from '../actions/versions.ts';
import { html, setText } from '../dom/elements.ts';
import { describeChange } from '../state/changes.ts';
import type { CanvasStore } from '../state/canvasStore.ts';
import { CHANGE_WORDS } from '../state/canvasWords.ts';
import { iconButton } from './toolbar.ts';

/** Above the drawing: what is compared, a legend that counts the differences, and the way through them. */
export function changesBar(store: CanvasStore, versions: Versions): HTMLElement {
  const title = html('strong');
  const legend = html('span', { class: 'legend' });
  const current = html('span', { class: 'current' });
  const close = iconButton('close', l10n.t('Close the comparison'), () => {
    if (!versions.close()) store.set({ comparison: undefined });
  });
  const element = html(
    'section',
    { class: 'changes', 'aria-label': l10n.t('Comparison'), hidden: true },
    title,
    legend,
    iconButton('previous', l10n.t('Previous change (Shift+D)'), () => versions.go(-1)),
    iconButton('chevron', l10n.t('Next change (D)'), () => versions.go(1)),
    current,
    html('span', { class: 'space' }),
    close,
  );
  store.on(['changes', 'versions', 'comparison', 'change'], ({ changes, versions: shown, comparison, change }) => {
    element.hidden = shown === undefined && comparison === undefined;
    setText(title, shown === undefined ? l10n.t('This run, compared') : `${shown.before} → ${shown.after}`);
    const counts = CHANGE_KINDS.map((kind) => ({ kind, count: changes.filter((each) => each.kind === kind).length }));
    const parts = counts.filter(({ count }) => count > 0);
    legend.replaceChildren(
      ...parts.map(({ kind, count }) => html('span', { class: `kind ${kind}` }, `${count} ${CHANGE_WORDS[kind]}`)),
      ...(parts.length === 0 ? [l10n.t('No differences')] : []),
    );
    const at = change === undefined ? undefined : changes[change];
    setText(
      current,
      at === undefined ? '' : l10n.t('{0} of {1}: {2}', (change ?? 0) + 1, changes.length, describeChange(at)),
    );
  });
  return element;
}
