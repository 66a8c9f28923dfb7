import * as l10n from '@vscode/l10n';
import { html, setText } from '../dom/elements.ts';
import type { ShownChange } from '../../../flows/run/protocol/shownState.ts';
import type { Runs } from '../actions/runs.ts';
import type { CanvasStore } from '../state/canvasStore.ts';
import { CHANGE_WORDS } from '../state/canvasWords.ts';

/** The shared state beside the drawing: the changes of the shown step, and the whole state after it. */
export function sharedPanel(store: CanvasStore, runs: Runs): HTMLElement {
  const [title, changeList, json] = [html('h2'), html('div'), html('pre')];
  const summary = html('summary');
  // Kept between steps, so that the whole state stays expanded.
  const whole = html('details', { class: 'whole' }, summary, json);
  const attributes = { class: 'shared', 'aria-label': l10n.t('Shared state'), tabindex: 0, hidden: true };
  const element = html('aside', attributes, title, changeList, whole);
  store.on(['shared', 'step', 'run', 'visit'], ({ shared, step, run, visit, isTrace }) => {
    const isShown = step !== undefined && run !== undefined && visit === undefined;
    element.hidden = !isShown;
    if (!isShown) return;
    const stepShown = runs.stepAt(step);
    const head = isTrace ? l10n.t('Attributes of step {0}', step + 1) : l10n.t('shared after step {0}', step + 1);
    setText(title, stepShown === undefined ? head : `${head}, ${stepShown.node}`);
    const isThere = shared?.run === run.id && shared.step === step;
    element.setAttribute('aria-busy', String(!isThere));
    if (!isThere) return; // the earlier state stays until the new one arrives, so that nothing flickers while stepping
    const { changes, state } = shared;
    const nothing =
      state === undefined ? l10n.t('The state was not recorded.') : l10n.t('This step did not change shared.');
    const quiet = isTrace && state !== undefined ? [] : [html('p', { class: 'quiet' }, nothing)];
    const rows = changes.length === 0 ? quiet : changes.map(changeElement);
    if (isTrace) whole.open = true;
    changeList.replaceChildren(...rows);
    whole.hidden = state === undefined;
    setText(summary, isTrace ? l10n.t('Attributes of the span') : l10n.t('All of shared'));
    setText(json, state ?? '');
  });
  return element;
}

/** A change with its values. */
export function changeElement({ path, before, after }: ShownChange): HTMLElement {
  const kind = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed';
  const line = (name: 'del' | 'ins', sign: string, text: string | undefined): HTMLElement[] =>
    text === undefined ? [] : [html(name, {}, html('b', { 'aria-hidden': 'true' }, sign), text)];
  const head = html('h3', {}, path.join('.') || 'shared', html('small', {}, CHANGE_WORDS[kind]));
  return html('div', { class: `change ${kind}` }, head, ...line('del', '−', before), ...line('ins', '+', after));
}
