import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { DisposableStore } from '../../core/processes/lifetime.ts';
import type { TextMatches } from '../../retrieval/index/highlights.ts';
import type { SearchHit } from '../../retrieval/server/indexServer.ts';
import { EditorPreview, type Place } from './editorPreview.ts';
import { searchRow } from './searchRow.ts';
import { acceptedRow, createPick, type PickItem } from '../ui/show.ts';
import { messageText } from '../ui/labels.ts';

// Holding down an arrow key moves through many rows; only the row where it stops is opened.
const PREVIEW_AFTER_MS = 60;
const OTHER_PLACES = { iconPath: new vscode.ThemeIcon('list-flat'), tooltip: l10n.t('Other Places in This File') };

/** A row of the list: a result, another choice, or a note, which cannot be chosen. */
export interface HitItem extends PickItem {
  readonly hit?: SearchHit;
  readonly place?: Place;
  readonly onChosen?: () => void;
  /** Called by the button of a row. */
  readonly onButton?: () => void;
  /** The result whose file has this other place. */
  readonly parent?: SearchHit;
}

/** Finds what matches the query in each text. */
type Highlight = (texts: readonly string[]) => Promise<readonly TextMatches[]>;

interface RowOptions {
  /** Whether VS Code does not filter the rows by the typed text. */
  readonly isLive: boolean;
  readonly isExplained?: boolean;
}

export interface HitPickOptions {
  readonly title: string;
  readonly placeholder: string;
  readonly buttons: readonly vscode.QuickInputButton[];
  readonly onButton: (button: vscode.QuickInputButton) => void;
  /** Called when a result is opened in a permanent tab. */
  readonly onOpened?: () => void;
  /** Called with failures to report to the user. */
  readonly onError: (error: unknown) => void;
}

/** A list of results that previews the active one in the editor and restores the editor on Escape. */
export class HitPick {
  readonly pick = createPick<HitItem>();
  /** Resolves when the list is closed. */
  readonly closed: Promise<void>;
  readonly #preview = new EditorPreview();
  readonly #options: HitPickOptions;
  #timer: NodeJS.Timeout | undefined;
  /** The row whose place is shown, or will be shown soon. */
  #shown: HitItem | undefined;
  #isOpened = false;
  #isClosed = false;
  /** Whether Enter was pressed while the search for the typed text had no result yet: it opens the first one. */
  #isAwaited = false;

  constructor(options: HitPickOptions) {
    this.#options = options;
    const { pick } = this;
    pick.title = messageText(options.title);
    pick.placeholder = messageText(options.placeholder);
    pick.buttons = options.buttons;
    pick.matchOnDetail = true;
    // Otherwise VS Code moves rows with early matches before better ones. Every version has the property, but its type is missing.
    Object.assign(pick, { sortByLabel: false });
    const disposables = new DisposableStore();
    for (const item of [
      pick,
      pick.onDidTriggerButton(options.onButton),
      pick.onDidTriggerItemButton(({ item }) => item.onButton?.()),
      pick.onDidChangeActive(([item]) => this.#showSoon(item)),
      pick.onDidChangeValue(() => (this.#isAwaited = false)),
      pick.onDidAccept(() => {
        const item = acceptedRow(pick) ?? this.#shownRow();
        this.#isAwaited = pick.busy && item?.place === undefined && item?.onChosen === undefined;
        this.#accept(item);
      }),
    ]) {
      disposables.add(item);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    disposables.add(
      pick.onDidHide(() => {
        this.#isClosed = true; // results may still arrive
        clearTimeout(this.#timer);
        void this.#leave().finally(() => {
          this.#preview.dispose();
          disposables.dispose();
          resolve();
        });
      }),
    );
  }

  /** The listed results, best first. */
  get hits(): readonly SearchHit[] {
    return this.pick.items.flatMap(({ hit }) => hit ?? []);
  }

  /** Rows for results. */
  async rows(hits: readonly SearchHit[], highlight: Highlight, options: RowOptions): Promise<HitItem[]> {
    const folders = vscode.workspace.workspaceFolders ?? [];
    const matches = await highlight(hits.map(({ text }) => text));
    return hits.map((hit, at) => {
      const name = folders.find(({ uri }) => uri.fsPath === hit.folder)?.name;
      const folderName = folders.length > 1 ? name : undefined;
      const match = matches[at] ?? { highlights: [], bestLine: 0 };
      const isExplained = options.isExplained ?? false;
      const { label, detail, line } = searchRow(hit, match, { folderName, isExplained });
      const place: Place = {
        uri: vscode.Uri.joinPath(vscode.Uri.file(hit.folder), hit.path),
        firstLine: hit.startLine - 1,
        lastLine: hit.endLine - 1,
        line: line - 1,
        highlights: match.highlights,
      };
      const row: HitItem = { label, detail, alwaysShow: options.isLive, hit, place };
      if (hit.more === undefined || hit.more.length === 0) return row;
      const onButton = (): void => void this.#toggleOthers(hit, highlight, options).catch(this.#options.onError);
      return { ...row, buttons: [OTHER_PLACES], onButton };
    });
  }

  /** Lists the other places of the active result's file below it, or removes them. */
  toggleOtherPlaces(): void {
    const [active] = this.pick.activeItems;
    const hit = active?.parent ?? active?.hit;
    this.pick.items.find((item) => item.hit !== undefined && item.hit === hit)?.onButton?.();
  }

  async #toggleOthers(hit: SearchHit, highlight: Highlight, options: RowOptions): Promise<void> {
    const { pick } = this;
    const document = await vscode.workspace.openTextDocument(
      vscode.Uri.joinPath(vscode.Uri.file(hit.folder), hit.path),
    );
    const others = (hit.more ?? []).map(({ startLine, endLine, score }): SearchHit => {
      const text = document.getText(new vscode.Range(startLine - 1, 0, endLine - 1, Number.MAX_SAFE_INTEGER));
      return { folder: hit.folder, path: hit.path, startLine, endLine, score, text, symbols: [], scope: [] };
    });
    const otherRows = await this.rows(others, highlight, options);
    const at = pick.items.findIndex((item) => item.hit === hit);
    if (at < 0) return; // the results have changed meanwhile
    const isListed = pick.items.some(({ parent }) => parent === hit);
    const rows = isListed ? [] : otherRows.map((row) => ({ ...row, parent: hit }));
    const before = pick.items.slice(0, at + 1);
    pick.items = [...before, ...rows, ...pick.items.slice(at + 1).filter(({ parent }) => parent !== hit)];
    pick.activeItems = before.slice(-1);
  }

  /** Replaces the rows; the active result stays active if the user moved to it. */
  replaceRows(rows: readonly HitItem[]): void {
    const { pick } = this;
    const before = pick.items.find(({ kind }) => kind !== vscode.QuickPickItemKind.Separator);
    const active = pick.activeItems[0] === before ? undefined : pick.activeItems[0]?.hit;
    pick.items = rows;
    const same = rows.find(({ hit }) => hit !== undefined && active !== undefined && isSamePlace(hit, active));
    if (same !== undefined) pick.activeItems = [same];
    const first = rows.find(({ place }) => place !== undefined);
    this.#showSoon(same ?? first); // VS Code does not always report a new first row
    if (this.#isAwaited) this.#accept(first);
    this.#isAwaited = false;
  }

  #showSoon(item: HitItem | undefined): void {
    clearTimeout(this.#timer);
    const place = item?.place;
    if (place === undefined || this.#isOpened || this.#isClosed) return;
    this.#shown = item;
    this.#timer = setTimeout(() => {
      this.#preview.show(place).catch(() => {}); // a file that vanished; opening it reports the error
    }, PREVIEW_AFTER_MS);
  }

  /**
   * The row that is meant when VS Code accepts one that was replaced at that moment, and so does not say which. Rows that VS Code filters
   * may be hidden, and are not meant.
   */
  #shownRow(): HitItem | undefined {
    return this.pick.items.find((item) => item === this.#shown && item.alwaysShow === true);
  }

  #accept(item: HitItem | undefined): void {
    if (item?.onChosen !== undefined) item.onChosen();
    if (item?.place === undefined) return;
    this.#isOpened = true;
    clearTimeout(this.#timer);
    this.#options.onOpened?.();
    this.#preview.open(item.place).catch(this.#options.onError);
    this.pick.hide();
  }

  async #leave(): Promise<void> {
    if (!this.#isOpened) await this.#preview.restore().catch(() => {}); // a tab that was closed meanwhile is not restored
  }
}

function isSamePlace(one: SearchHit, other: SearchHit): boolean {
  return one.folder === other.folder && one.path === other.path && one.startLine === other.startLine;
}
