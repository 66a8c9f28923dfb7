import { html, setText } from '../dom/elements.ts';
import type { ShownChange } from '../../../flows/run/protocol/shownState.ts';
import type { Runs } from '../actions/runs.ts';
import type { CanvasState, Store } from '../state/store.ts';

/** The shared state beside the drawing: the changes of the shown step, and the whole state after it. */
export class SharedPanel {
  readonly element = html('aside', { class: 'shared', 'aria-label': 'Shared state', tabindex: 0, hidden: true });
  readonly #runs: Runs;
  // Kept between steps, so that the whole state stays expanded.
  readonly #whole = html('details', { class: 'whole' }, html('summary', {}, 'All of shared'));
  readonly #json = html('pre');
  readonly #changes = html('div');
  readonly #title = html('h2');

  constructor(store: Store, runs: Runs) {
    this.#runs = runs;
    this.#whole.append(this.#json);
    this.element.append(this.#title, this.#changes, this.#whole);
    store.on(['shared', 'step', 'run'], (state) => this.#show(state));
  }

  #show({ shared, step, run }: CanvasState): void {
    const isShown = step !== undefined && run !== undefined;
    this.element.hidden = !isShown;
    if (!isShown) return;
    setText(
      this.#title,
      `shared after step ${step + 1}${this.#runs.stepAt(step) === undefined ? '' : `, ${this.#runs.stepAt(step)?.node}`}`,
    );
    const isThere = shared?.run === run.id && shared.step === step;
    this.element.setAttribute('aria-busy', String(!isThere));
    if (!isThere) return; // the earlier state stays until the new one arrives, so that nothing flickers while stepping
    const { changes, state } = shared;
    const nothing = state === undefined ? 'The state was not recorded.' : 'This step did not change shared.';
    this.#changes.replaceChildren(
      ...(changes.length === 0 ? [html('p', { class: 'quiet' }, nothing)] : changes.map(changeElement)),
    );
    this.#whole.hidden = state === undefined;
    setText(this.#json, state ?? '');
  }
}

function changeElement({ path, before, after }: ShownChange): HTMLElement {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const line = (sign: string, name: string, text: string | undefined): HTMLElement[] =>
    text === undefined
      ? []
      : [html(name === 'before' ? 'del' : 'ins', {}, html('b', { 'aria-hidden': 'true' }, sign), text)];
  return html(
    'div',
    { class: `change ${kind}` },
    html('h3', {}, path.join('.') || 'shared', html('small', {}, kind)),
    ...line('−', 'before', before),
    ...line('+', 'after', after),
  );
}
