import type { CanvasActions } from '../actions/canvasActions.ts';
import { isTyping } from '../dom/elements.ts';
import { ARROW_KEYS, moveSelection } from '../actions/navigation.ts';
import type { Store } from '../state/store.ts';
import type { Binding } from '../actions/commands.ts';

interface KeyboardParts {
  readonly surface: HTMLElement;
  readonly store: Store;
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
