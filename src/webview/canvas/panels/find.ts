import * as l10n from '@vscode/l10n';
import type { CanvasActions } from '../actions/canvasActions.ts';
import { html, setText } from '../dom/elements.ts';
import { icon } from '../dom/icons.ts';
import { matches } from '../dom/picker.ts';
import type { CanvasStore } from '../state/canvasStore.ts';

/** The search box: nodes by class, name, comment, action and key of the shared state. */
export class Find {
  readonly element: HTMLElement;
  readonly #input = html('input', {
    type: 'text',
    'aria-label': l10n.t('Find a node'),
    placeholder: l10n.t('Find a node'),
    spellcheck: 'false',
  });
  readonly #count = html('span', { class: 'count', 'aria-live': 'polite' });
  readonly #store: CanvasStore;
  readonly #actions: CanvasActions;
  readonly #surface: HTMLElement;
  #hits: readonly string[] = [];
  #at = 0;

  constructor(surface: HTMLElement, store: CanvasStore, actions: CanvasActions) {
    this.#surface = surface;
    this.#store = store;
    this.#actions = actions;
    const button = (name: 'previous' | 'chevron' | 'close', label: string, run: () => void): HTMLElement => {
      const element = html('button', { type: 'button', class: 'plain', 'aria-label': label, title: label }, icon(name));
      element.addEventListener('click', run);
      return element;
    };
    this.element = html(
      'div',
      { class: 'find', role: 'search', hidden: true },
      this.#input,
      this.#count,
      button('previous', l10n.t('Previous (Shift+Enter)'), () => this.#go(-1)),
      button('chevron', l10n.t('Next (Enter)'), () => this.#go(1)),
      button('close', l10n.t('Close (Escape)'), () => this.close()),
    );
    this.#input.addEventListener('input', () => this.#search());
    this.#input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.#go(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') this.close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    store.on(['drawing'], () => {
      if (!this.element.hidden) this.#search({ isQuiet: true });
    });
  }

  open(): void {
    this.element.hidden = false;
    this.#input.focus();
    this.#input.select();
    this.#search({ isQuiet: true });
  }

  /** Closes it; the found node stays selected. Returns false if it was not open. */
  close(): boolean {
    if (this.element.hidden) return false;
    this.element.hidden = true;
    this.#store.set({ found: undefined });
    this.#surface.focus();
    return true;
  }

  #search({ isQuiet = false } = {}): void {
    const words = this.#input.value.trim();
    const { drawing } = this.#store.state;
    const hits = drawing.nodes.filter(({ node }) => {
      const { className, id, label, summary = '', actions, reads, writes } = node;
      const keys = [...reads, ...writes].map(({ key }) => key);
      const returned = actions.known.map(({ action }) => action);
      return matches([className, id, label, summary, ...returned, ...keys].join(' '), words);
    });
    this.#hits = words === '' ? [] : hits.map(({ path }) => path);
    this.#store.set({ found: words === '' ? undefined : new Set(this.#hits) });
    this.#at = 0;
    if (!isQuiet) this.#show();
    setText(
      this.#count,
      words === ''
        ? ''
        : this.#hits.length === 0
          ? l10n.t('No node')
          : l10n.t('{0} of {1}', this.#at + 1, this.#hits.length),
    );
  }

  #go(step: 1 | -1): void {
    if (this.#hits.length === 0) return;
    this.#at = (this.#at + step + this.#hits.length) % this.#hits.length;
    this.#show();
    setText(this.#count, l10n.t('{0} of {1}', this.#at + 1, this.#hits.length));
  }

  #show(): void {
    const path = this.#hits[this.#at];
    if (path !== undefined) this.#actions.select({ type: 'node', path });
  }
}
