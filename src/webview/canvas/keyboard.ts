import * as l10n from '@vscode/l10n';
import type { CanvasActions } from './actions/canvasActions.ts';
import { html, isTyping } from './dom/elements.ts';
import { ARROW_KEYS, moveSelection } from './actions/navigation.ts';
import type { CanvasStore } from './state/canvasStore.ts';
import type { Binding } from './actions/canvasCommands.ts';

const MOVES: readonly (readonly [string, string])[] = [
  [l10n.t('Arrow keys'), l10n.t('Along the connections, and to neighbours')],
  [l10n.t('Menu, Shift+F10'), l10n.t('Actions for the selection')],
  ['Escape', l10n.t('Close, or clear the selection')],
  [l10n.t('Ctrl+wheel'), l10n.t('Zoom')],
  [l10n.t('Drag a port'), l10n.t('Connect')],
  [l10n.t('Shift+click'), l10n.t('Choose several nodes')],
];

interface KeyboardParts {
  readonly surface: HTMLElement;
  readonly store: CanvasStore;
  readonly actions: CanvasActions;
  readonly commands: readonly Binding[];
  readonly openMenu: () => void;
  /** Cancels the current action; returns false if there was none. */
  readonly escape: () => boolean;
}

/** Keyboard control. Ctrl+F works on the whole page, the rest while the drawing has the focus. */
export function listenToKeys({ surface, store, actions, commands, openMenu, escape }: KeyboardParts): void {
  const runCommand = (event: KeyboardEvent): boolean => {
    const name = nameOf(event);
    const isBound = ({ keys, also }: Binding): boolean => keys.toLowerCase() === name || also?.includes(name) === true;
    const bound = commands.filter(isBound);
    const command = bound.find(({ when }) => when?.() ?? true);
    const run = command?.run ?? bound.find(({ otherwise }) => otherwise !== undefined)?.otherwise;
    run?.();
    return run !== undefined;
  };
  surface.addEventListener('keydown', (event) => {
    if (isTyping(event.target) || event.altKey) return;
    const direction = ARROW_KEYS[event.key];
    if (direction !== undefined && !event.ctrlKey && !event.metaKey) {
      actions.select(moveSelection(store.state.drawing, store.state.selected, direction));
    } else if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) openMenu();
    else if (event.key === 'Escape') {
      if (!escape()) actions.select(undefined);
    } else if (!runCommand(event)) return;
    event.preventDefault();
  });
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || nameOf(event) !== 'ctrl+f') return;
    runCommand(event);
    event.preventDefault();
  });
}

function nameOf({ key, ctrlKey, metaKey, shiftKey }: KeyboardEvent): string {
  const isLetter = /^[a-z]$/i.test(key);
  const modifiers = `${ctrlKey || metaKey ? 'ctrl+' : ''}${shiftKey && (isLetter || key.length > 1) ? 'shift+' : ''}`;
  return modifiers + (key === ' ' ? 'space' : key.toLowerCase());
}

/**
 * Gives the focus back to what had it when the page gets it again from another editor, or from an undo there: VS Code then focuses
 * the page as a whole, where no key does anything.
 */
export function keepFocus(surface: HTMLElement): void {
  let last = surface;
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement && target !== document.body) last = target;
  });
  window.addEventListener('focus', () => {
    if (document.activeElement !== document.body) return;
    const isShown = last.getClientRects().length > 0;
    (isShown ? last : surface).focus({ preventScroll: true });
  });
}

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
