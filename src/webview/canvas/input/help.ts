import * as l10n from '@vscode/l10n';
import type { Binding } from '../actions/commands.ts';
import { html } from '../dom/elements.ts';

const MOVES: readonly (readonly [string, string])[] = [
  [l10n.t('Arrow keys'), l10n.t('Along the connections, and to neighbours')],
  [l10n.t('Menu, Shift+F10'), l10n.t('Actions for the selection')],
  ['Escape', l10n.t('Close, or clear the selection')],
  [l10n.t('Ctrl+wheel'), l10n.t('Zoom')],
  [l10n.t('Drag a port'), l10n.t('Connect')],
  [l10n.t('Shift+click'), l10n.t('Choose several nodes')],
];

/** The list of all keys, as a dialog. */
export function showHelp(host: HTMLElement, commands: readonly Binding[]): void {
  const before = document.activeElement;
  const entries = [...MOVES, ...commands.map(({ title, keys }) => [keys, title] as const)];
  const rows = Map.groupBy(entries, ([keys]) => keys); // a key can do one thing with a node, another with a connection
  const close = html('button', { type: 'button', class: 'tool primary' }, l10n.t('Close'));
  const dialog = html(
    'dialog',
    { class: 'help', 'aria-label': l10n.t('Keys') },
    html('h2', {}, l10n.t('Keys')),
    html(
      'dl',
      { tabindex: 0, 'aria-label': l10n.t('Keys') }, // scrolls by keyboard
      ...[...rows].flatMap(([keys, same]) => [
        html('dt', {}, html('kbd', {}, keys)),
        html('dd', {}, [...new Set(same.map(([, title]) => title))].join(' · ')),
      ]),
    ),
    close,
  );
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
  });
  host.append(dialog);
  dialog.showModal();
}
