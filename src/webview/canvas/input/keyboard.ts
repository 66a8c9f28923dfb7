import type { CanvasActions } from '../actions/canvasActions.ts';
import { isTyping } from '../dom/elements.ts';
import { ARROW_KEYS, moveSelection } from '../actions/navigation.ts';
import type { Store } from '../state/store.ts';
import type { canvasCommands } from '../actions/commands.ts';

interface KeyboardParts {
  readonly surface: HTMLElement;
  readonly store: Store;
  readonly actions: CanvasActions;
  readonly commands: ReturnType<typeof canvasCommands>;
  readonly openMenu: () => void;
  /** Cancels the current action; returns false if there was none. */
  readonly escape: () => boolean;
}

/** Keyboard control. Ctrl+F works on the whole page, the rest while the drawing has the focus. */
export function listenToKeys({ surface, store, actions, commands, openMenu, escape }: KeyboardParts): void {
  const runCommand = (event: KeyboardEvent): boolean => {
    const name = nameOf(event);
    const command = commands.find(({ on, when }) => on.includes(name) && (when?.() ?? true));
    command?.run();
    return command !== undefined;
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
  return `${ctrlKey || metaKey ? 'ctrl+' : ''}${shiftKey && (isLetter || key.length > 1) ? 'shift+' : ''}${key.toLowerCase()}`;
}
