import * as l10n from '@vscode/l10n';
import { plural } from '../../../core/text/format.ts';
import type { SourceRange } from '../../../flows/graph/graph.ts';
import { html } from '../dom/elements.ts';
import { shownFlow, unreadOf } from '../state/graphView.ts';
import type { Host } from '../state/editor.ts';
import { icon } from '../dom/icons.ts';
import type { CanvasState, CanvasStore } from '../state/canvasStore.ts';

interface BannerParts {
  readonly store: CanvasStore;
  readonly host: Host;
  readonly addNode: () => void;
}

/** Problems between the source and the drawing: an error in the text, unreadable constructs, and why nothing is shown. */
export class Banner {
  /** Above the drawing. */
  readonly element = html('div', { class: 'banners' });
  /** Instead of a drawing. */
  readonly empty = html('div', { class: 'empty' });
  readonly #parts: BannerParts;

  constructor(parts: BannerParts) {
    this.#parts = parts;
    parts.store.on(['file', 'flow', 'isTrusted'], (state) => this.#show(state));
  }

  #show(state: CanvasState): void {
    const { file, flow } = state;
    const { addNode } = this.#parts;
    const parts: HTMLElement[] = [];
    if (file?.syntaxError !== undefined) {
      const { message, range } = file.syntaxError;
      const error = l10n.t('Line {0}: {1}.', range.start.line + 1, message.replace(/\.$/, ''));
      const staleNote = file.isStale ? ` ${l10n.t('The drawing shows the last version without errors.')}` : '';
      parts.push(
        html(
          'div',
          { class: 'banner error', role: 'status' },
          icon('failed'),
          html('span', {}, error + staleNote),
          this.#link(l10n.t('Show'), range),
        ),
      );
    }
    const unread = file === undefined ? [] : unreadOf(file, flow);
    if (unread.length > 0) {
      const list = html(
        'ul',
        {},
        ...unread.map(({ reason, range }) =>
          html(
            'li',
            {},
            `${l10n.t('Line {0}: {1}', range.start.line + 1, reason)} `,
            this.#link(l10n.t('Show'), range),
          ),
        ),
      );
      parts.push(
        html(
          'details',
          { class: 'banner warning' },
          html(
            'summary',
            {},
            icon('warning'),
            html(
              'span',
              {},
              plural(
                unread.length,
                l10n.t('1 construct could not be read, so the drawing may be incomplete'),
                l10n.t('{0} constructs could not be read, so the drawing may be incomplete'),
              ),
            ),
            icon('chevron'),
          ),
          list,
        ),
      );
    }
    // Somebody may be reading the list, so it is replaced only if its text changes.
    if (
      parts.map(({ textContent }) => textContent).join('\n') !==
      [...this.element.children].map(({ textContent }) => textContent).join('\n')
    ) {
      this.element.replaceChildren(...parts);
    }

    const graph = shownFlow(state);
    this.empty.hidden = file === undefined || (graph !== undefined && graph.nodes.length > 0);
    if (this.empty.hidden) return;
    const add = html('button', { type: 'button', class: 'tool primary' }, l10n.t('Add a node'));
    add.addEventListener('click', addNode);
    const help =
      graph === undefined
        ? l10n.t('This file has no flow yet. Create one with new Flow({ start: … }).connect(…).')
        : l10n.t('This flow has no nodes yet.');
    this.empty.replaceChildren(html('p', {}, help), ...(graph === undefined ? [] : [add]));
    if (file?.syntaxError !== undefined) this.empty.hidden = true;
  }

  #link(label: string, range: SourceRange): HTMLButtonElement {
    const button = html('button', { type: 'button', class: 'link' }, label);
    button.addEventListener('click', () => this.#parts.host.send({ type: 'reveal', range, isPreview: false }));
    return button;
  }
}
