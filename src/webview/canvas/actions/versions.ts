import * as l10n from '@vscode/l10n';
import { plural } from '../../../core/text/format.ts';
import type { Announcer } from '../dom/announcer.ts';
import { changesOf, describeChange } from '../state/changes.ts';
import { shownFlow, withLayout } from '../state/graphView.ts';
import type { Host } from '../state/editor.ts';
import type { VersionsMessage } from '../state/canvasMessages.ts';
import type { CanvasStore } from '../state/canvasStore.ts';
import type { CanvasActions } from './canvasActions.ts';

interface VersionsParts {
  readonly store: CanvasStore;
  readonly host: Host;
  readonly actions: CanvasActions;
  readonly announcer: Announcer;
}

/** What differs between two versions of the flow, or between two runs of it. */
export class Versions {
  readonly #parts: VersionsParts;

  constructor(parts: VersionsParts) {
    this.#parts = parts;
    const { store } = parts;
    store.on(['drawing', 'versions', 'comparison', 'progress'], (state) => {
      if (state.versions === undefined && state.comparison === undefined && state.changes.length === 0) return;
      store.set({ changes: changesOf(state) });
    });
  }

  get hasChanges(): boolean {
    return this.#parts.store.state.changes.length > 0;
  }

  /** Lets the user choose two versions of the file. */
  choose(): void {
    const flow = shownFlow(this.#parts.store.state)?.id;
    if (flow === undefined || this.#parts.store.state.isTrace) return;
    this.#parts.host.send(
      this.#parts.store.state.isTrusted ? { type: 'compareVersions', flow } : { type: 'manageTrust' },
    );
  }

  /** Shows two versions in one drawing, which cannot be edited. */
  show(versions: VersionsMessage): void {
    this.#parts.store.set({ versions, selected: undefined, change: undefined, comparison: undefined });
    this.#parts.actions.showFlow(versions.flow);
    const { changes } = this.#parts.store.state;
    this.#parts.announcer.say(
      changes.length === 0
        ? l10n.t('The versions have the same graph')
        : plural(changes.length, l10n.t('1 change. Press D to show it.'), l10n.t('{0} changes. Press D for the next.')),
    );
  }

  /** Returns to the current source; returns false if no versions are shown. */
  close(): boolean {
    if (this.#parts.store.state.versions === undefined) return false;
    this.#parts.store.set({ versions: undefined, change: undefined, selected: undefined });
    this.#parts.store.set(withLayout(this.#parts.store.state, { isTidy: true }));
    return true;
  }

  /** Selects the next or previous change, also in another flow of the file. */
  go(step: 1 | -1): void {
    const { changes, change } = this.#parts.store.state;
    if (changes.length === 0) return;
    const at = change === undefined ? (step === 1 ? 0 : changes.length - 1) : change + step;
    const index = (at + changes.length) % changes.length;
    const chosenChange = changes[index];
    if (chosenChange === undefined) return;
    if (chosenChange.selection === undefined) this.#parts.actions.showFlow(chosenChange.flow);
    this.#parts.store.set({ change: index });
    this.#parts.actions.select(this.#parts.store.state.changes[index]?.selection);
    this.#parts.announcer.say(l10n.t('{0} of {1}: {2}', index + 1, changes.length, describeChange(chosenChange)));
  }
}
