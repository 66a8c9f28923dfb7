import type { Binding } from '../actions/commands.ts';
import { html } from '../dom/elements.ts';

const MOVES: readonly (readonly [string, string])[] = [
  ['Arrow keys', 'Along the connections, and to neighbours'],
  ['Menu, Shift+F10', 'Actions for the selection'],
  ['Escape', 'Close, or clear the selection'],
  ['Ctrl+wheel', 'Zoom'],
  ['Drag a port', 'Connect'],
  ['Shift+click', 'Choose several nodes'],
];

/** The list of all keys, as a dialog. */
export function showHelp(host: HTMLElement, commands: readonly Binding[]): void {
  const before = document.activeElement;
  const rows = new Map([...MOVES, ...commands.map(({ title, keys }) => [keys, title] as const)]);
  const close = html('button', { type: 'button', class: 'tool primary' }, 'Close');
  const dialog = html(
    'dialog',
    { class: 'help', 'aria-label': 'Keys' },
    html('h2', {}, 'Keys'),
    html(
      'dl',
      { tabindex: 0, 'aria-label': 'Keys' }, // scrolls by keyboard
      ...[...rows].flatMap(([keys, title]) => [html('dt', {}, html('kbd', {}, keys)), html('dd', {}, title)]),
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
