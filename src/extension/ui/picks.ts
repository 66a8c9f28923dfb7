import * as vscode from 'vscode';
import { acceptedRow, createPick, type PickItem, type Pick } from './show.ts';
import { messageText } from './labels.ts';

export interface PickOptions<T extends PickItem> {
  readonly title: string;
  readonly placeholder: string;
  readonly items: readonly T[];
  /** The row that Enter accepts. */
  readonly active?: T;
  readonly hasBack?: boolean;
  /** Creates a row from the typed text, for lists that accept any text. */
  readonly typed?: (text: string) => T | undefined;
  /** Which of the rows that are checked now may stay checked, given those that were checked before. */
  readonly limitTicks?: (before: readonly T[], after: readonly T[]) => readonly T[];
  readonly onButton?: (event: vscode.QuickPickItemButtonEvent<T>, pick: Pick<T>) => void;
}

/** Asks for one row. Returns `back` for the Back button and undefined for Escape. A click elsewhere does not close the list, which may hold many choices. */
export function pickOne<T extends PickItem>(options: PickOptions<T>): Promise<T | 'back' | undefined> {
  return show(options, false, acceptedRow);
}

/** Asks which rows to check; rows with `picked` are checked at first. */
export function pickMany<T extends PickItem>(options: PickOptions<T>): Promise<readonly T[] | 'back' | undefined> {
  return show(options, true, (pick) => pick.selectedItems);
}

function show<T extends PickItem, R>(
  options: PickOptions<T>,
  canSelectMany: boolean,
  result: (pick: Pick<T>) => R | undefined,
): Promise<R | 'back' | undefined> {
  const pick = createPick<T>();
  pick.title = messageText(options.title);
  pick.placeholder = messageText(options.placeholder);
  pick.canSelectMany = canSelectMany;
  pick.ignoreFocusOut = true;
  pick.matchOnDescription = true;
  pick.items = options.items;
  if (canSelectMany) pick.selectedItems = options.items.filter(({ picked }) => picked);
  else if (options.active) pick.activeItems = [options.active];
  if (options.hasBack) pick.buttons = [vscode.QuickInputButtons.Back];
  const { limitTicks, onButton, typed } = options;
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const accepted = result(pick);
      if (accepted === undefined) return; // Enter on text that fits no row, which is not Escape
      resolve(accepted);
      pick.hide();
    });
    pick.onDidTriggerButton(() => {
      resolve('back');
      pick.hide();
    });
    if (limitTicks) {
      let before = pick.selectedItems;
      pick.onDidChangeSelection((after) => {
        before = limitTicks(before, after);
        if (before.length !== after.length) pick.selectedItems = before;
      });
    }
    if (onButton) pick.onDidTriggerItemButton((event) => onButton(event, pick));
    if (typed) {
      pick.onDidChangeValue((text) => {
        const row = text.trim() === '' ? undefined : typed(text.trim());
        pick.items = row === undefined ? options.items : [row, ...options.items];
      });
    }
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}
