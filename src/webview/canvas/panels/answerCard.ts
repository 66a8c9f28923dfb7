import * as l10n from '@vscode/l10n';
import { type DrawnNode, type Drawing, nodeAt } from '../../../flows/layout/drawing.ts';
import {
  type AnswerChoice,
  type AnswerField,
  answerFieldOf,
  parseAnswer,
} from '../../../flows/run/history/answerField.ts';
import { html, setText } from '../dom/elements.ts';
import type { Viewport } from '../dom/viewport.ts';
import type { Host } from '../state/editor.ts';
import type { RunInfo } from '../state/canvasMessages.ts';
import type { CanvasState, CanvasStore } from '../state/canvasStore.ts';

const GAP = 12;

interface AnswerCardParts {
  readonly store: CanvasStore;
  readonly host: Host;
  readonly viewport: Viewport;
  /** The path on the page of the node that waits. */
  readonly waitingPath: () => string | undefined;
  /** Shows a text while the card is gone. */
  readonly warn: (text: string) => void;
  /** Gives the focus back to the drawing. */
  readonly leave: () => void;
}

/** The question of a run that waits, below the node that asks, with its choices as buttons or a field for the answer. */
export class AnswerCard {
  readonly element = html('form', { class: 'answer', hidden: true, 'aria-label': l10n.t('Question of the run') });
  readonly #parts: AnswerCardParts;
  readonly #refusal = html('p', { class: 'refusal', role: 'alert' });
  #shown: string | undefined;

  constructor(parts: AnswerCardParts) {
    this.#parts = parts;
    const { store, viewport } = parts;
    store.on(['run'], (state) => this.#show(state));
    store.on(['drawing', 'run', 'moment'], () => this.#place());
    viewport.onDidChange(() => this.#place());
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      parts.leave();
      event.preventDefault();
    });
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }

  focus(): void {
    this.element.querySelector<HTMLElement>('textarea, input, .choices button')?.focus();
  }

  /** Shows why an answer was not taken; what was entered stays. */
  settle(run: string, refusal: string | undefined): void {
    if (run !== this.#shown) return;
    this.#setBusy(false);
    if (refusal === undefined) this.#parts.host.draft = undefined;
    setText(this.#refusal, refusal ?? '');
    this.#place(); // it may be larger now
    if (refusal !== undefined) this.focus();
  }

  #show({ run }: CanvasState): void {
    const isWaiting = run?.pause !== undefined && run.state === 'waiting';
    this.element.hidden = !isWaiting;
    if (!isWaiting) this.#leave();
    // The list of runs is sent again at any time, and must not clear what was entered.
    if (!isWaiting || run.id === this.#shown) return;
    this.#shown = run.id;
    setText(this.#refusal, '');
    const node = run.pause.path.split('/').at(-1) ?? '';
    this.element.replaceChildren(
      html('h2', {}, l10n.t('{0} waits for an answer', node)),
      html('p', { class: 'question', id: 'question', tabindex: -1 }, run.pause.question),
      ...this.#fieldOf(run, answerFieldOf(run.pause)),
      this.#refusal,
      ...(run.remote === undefined
        ? []
        : [html('p', { class: 'quiet' }, l10n.t('The answer continues it in a new job.'))]),
    );
  }

  /** Another window has answered: its refusal, which this card would have shown, is shown elsewhere. */
  #leave(): void {
    const { textContent: refusal } = this.#refusal;
    if (this.#shown !== undefined && refusal) this.#parts.warn(refusal);
    setText(this.#refusal, '');
    this.#shown = undefined;
  }

  #fieldOf(run: RunInfo, field: AnswerField): HTMLElement[] {
    if (field.type === 'choices') {
      const buttons = field.choices.map(({ label, value }) => {
        const button = html('button', { type: 'button', class: 'tool', 'aria-describedby': 'question' }, label);
        button.addEventListener('click', () => this.#send(run, value));
        return button;
      });
      return [html('div', { class: 'choices', role: 'group', 'aria-label': l10n.t('Answers') }, ...buttons)];
    }
    const names = { 'aria-label': l10n.t('Answer'), 'aria-describedby': 'question', spellcheck: 'false' };
    const rows = field.kind === 'json' ? Math.min(8, field.start.split('\n').length + 1) : 2;
    const input =
      field.kind === 'number'
        ? html('input', { type: 'text', inputmode: 'decimal', ...names })
        : html('textarea', { rows, ...names });
    const { host } = this.#parts;
    input.value = host.draft?.run === run.id ? host.draft.text : field.start;
    input.oninput = () => {
      host.draft = { run: run.id, text: input.value };
    };
    const answer = html('button', { type: 'submit', class: 'tool primary' }, l10n.t('Answer'));
    const submit = (): void => {
      const read = parseAnswer(field, input.value);
      if (read.ok) this.#send(run, read.value);
      else this.settle(run.id, read.reason);
    };
    this.element.onsubmit = (event) => {
      event.preventDefault();
      submit();
    };
    // Enter answers, as in a dialog; Shift+Enter begins a line.
    input.onkeydown = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      submit();
    };
    const hint = field.hint === '' ? [] : [html('p', { class: 'quiet' }, field.hint)];
    return [input, ...hint, html('div', { class: 'choices' }, answer)];
  }

  #send(run: RunInfo, input: AnswerChoice['value']): void {
    setText(this.#refusal, '');
    this.#setBusy(true);
    this.#parts.host.send({ type: 'answer', run: run.id, input });
  }

  #setBusy(isBusy: boolean): void {
    this.element.setAttribute('aria-busy', String(isBusy));
    for (const button of this.element.querySelectorAll('button')) button.disabled = isBusy;
  }

  /** Below the node that asks, as far as there is space; a node that is not on the page has its card at the top. */
  #place(): void {
    const { element } = this;
    const stage = element.parentElement;
    if (element.hidden || stage === null) return;
    const { store, viewport, waitingPath } = this.#parts;
    const box = shownNode(store.state.drawing, waitingPath())?.box;
    const at = box === undefined ? { x: GAP, y: GAP } : viewport.toSurface({ x: box.x, y: box.y + box.height });
    const within = (value: number, most: number): number => Math.max(GAP, Math.min(value, most - GAP));
    element.style.left = `${within(at.x, stage.clientWidth - element.offsetWidth)}px`;
    element.style.top = `${within(at.y + GAP, stage.clientHeight - element.offsetHeight)}px`;
  }
}

/** The node with a path, or the collapsed flow that contains it. */
function shownNode(drawing: Drawing, path: string | undefined): DrawnNode | undefined {
  if (path === undefined || path === '') return undefined;
  return nodeAt(drawing, path) ?? shownNode(drawing, path.slice(0, Math.max(0, path.lastIndexOf('/'))));
}
