import * as vscode from 'vscode';
import { DisposableStore } from '../../core/processes/lifetime.ts';
import type { ServiceHit } from '../../retrieval/folder/indexService.ts';
import { EditorPreview, type Place } from './editorPreview.ts';
import type { Highlighter } from './highlights.ts';
import { searchRow } from './searchRow.ts';
import { createPick, type PickItem } from '../ui/show.ts';
import { messageText } from '../ui/labels.ts';

// Holding an arrow key goes through many rows; only where it rests is an editor opened.
const PREVIEW_AFTER_MS = 60;

/** A row of the list: a place, or something else that can be chosen, or a remark, which cannot. */
export interface ResultItem extends PickItem {
  readonly hit?: ServiceHit;
  readonly place?: Place;
  readonly onChosen?: () => void;
}

export interface ResultPickOptions {
  readonly title: string;
  readonly placeholder: string;
  readonly buttons: readonly vscode.QuickInputButton[];
  readonly onButton: (button: vscode.QuickInputButton) => void;
  /** A place was opened for good. */
  readonly onOpened?: () => void;
  /** Something went wrong that a person should know of. */
  readonly onError: (error: unknown) => void;
}

/** A list of places that shows each in the editor while it is looked at, and puts the editor back when it is left by Escape. */
export class ResultPick {
  readonly pick = createPick<ResultItem>();
  /** Resolves when the list is gone. */
  readonly closed: Promise<void>;
  readonly #preview = new EditorPreview();
  readonly #options: ResultPickOptions;
  #timer: NodeJS.Timeout | undefined;
  #isOpened = false;

  constructor(options: ResultPickOptions) {
    this.#options = options;
    const { pick } = this;
    pick.title = messageText(options.title);
    pick.placeholder = messageText(options.placeholder);
    pick.buttons = options.buttons;
    pick.matchOnDetail = true;
    // VS Code would put rows whose words stand early before better ones. The property exists in every version, but its type does not.
    Object.assign(pick, { sortByLabel: false });
    const disposables = new DisposableStore();
    for (const item of [
      pick,
      pick.onDidTriggerButton(options.onButton),
      pick.onDidChangeActive(([item]) => this.#showSoon(item)),
      pick.onDidAccept(() => this.#accept(pick.activeItems[0])),
    ]) {
      disposables.add(item);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    disposables.add(
      pick.onDidHide(() => {
        clearTimeout(this.#timer);
        void this.#leave().finally(() => {
          this.#preview.dispose();
          disposables.dispose();
          resolve();
        });
      }),
    );
  }

  /** The places that are listed, best first. */
  get hits(): readonly ServiceHit[] {
    return this.pick.items.flatMap(({ hit }) => hit ?? []);
  }

  /** Rows for places. `isLive`: they are what was asked for, whatever else is typed. */
  rows(hits: readonly ServiceHit[], highlighter: Highlighter, { isLive }: { isLive: boolean }): ResultItem[] {
    const folders = vscode.workspace.workspaceFolders ?? [];
    return hits.map((hit) => {
      const name = folders.find(({ uri }) => uri.fsPath === hit.folder)?.name;
      const { label, detail, line } = searchRow(hit, highlighter, folders.length > 1 ? name : undefined);
      const place: Place = {
        uri: vscode.Uri.joinPath(vscode.Uri.file(hit.folder), hit.path),
        firstLine: hit.startLine - 1,
        lastLine: hit.endLine - 1,
        line: line - 1,
        highlights: highlighter.find(hit.text),
      };
      return { label, detail, alwaysShow: isLive, hit, place };
    });
  }

  /** Shows other rows; a place that was moved to stays the chosen one. */
  replaceRows(rows: readonly ResultItem[]): void {
    const { pick } = this;
    const active = pick.activeItems[0] === pick.items[0] ? undefined : pick.activeItems[0]?.hit;
    pick.items = rows;
    const same = rows.find(({ hit }) => hit !== undefined && active !== undefined && isSamePlace(hit, active));
    if (same !== undefined) pick.activeItems = [same];
    this.#showSoon(same ?? rows[0]); // VS Code does not tell of another first row each time
  }

  #showSoon(item: ResultItem | undefined): void {
    clearTimeout(this.#timer);
    const place = item?.place;
    if (place === undefined) return;
    this.#timer = setTimeout(() => {
      this.#preview.show(place).catch(() => {}); // a file that vanished cannot be shown; opening it says so
    }, PREVIEW_AFTER_MS);
  }

  #accept(item: ResultItem | undefined): void {
    if (item?.onChosen !== undefined) item.onChosen();
    if (item?.place === undefined) return;
    this.#isOpened = true;
    clearTimeout(this.#timer);
    this.#options.onOpened?.();
    this.#preview.open(item.place).catch(this.#options.onError);
    this.pick.hide();
  }

  async #leave(): Promise<void> {
    if (!this.#isOpened) await this.#preview.restore().catch(() => {}); // a tab that was closed meanwhile is not brought back
  }
}

function isSamePlace(one: ServiceHit, other: ServiceHit): boolean {
  return one.folder === other.folder && one.path === other.path && one.startLine === other.startLine;
}
