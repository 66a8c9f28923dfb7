import * as l10n from '@vscode/l10n';
import { formatMicros } from '../../../core/text/format.ts';
import type { VisitReport } from '../../../flows/run/history/nodeVisit.ts';
import type { Visits } from '../actions/visits.ts';
import { html, setText } from '../dom/elements.ts';
import { icon } from '../dom/icons.ts';
import type { ShownVisit, CanvasStore } from '../state/canvasStore.ts';
import { STATE_WORDS } from '../state/canvasWords.ts';
import { changeElement } from './sharedPanel.ts';
import { iconButton } from './toolbar.ts';

/** One visit of a node beside the drawing: its input, which can be edited, and what it did in the run and now. */
export function visitPanel(store: CanvasStore, visits: Visits, leave: () => void): HTMLElement {
  const title = html('h2');
  const problem = html('p', { class: 'refusal', role: 'alert' });
  const field = html('textarea', {
    rows: 12,
    'aria-label': l10n.t('Shared state before the node'),
    spellcheck: 'false',
  });
  const input = html(
    'details',
    { class: 'whole' },
    html('summary', {}, l10n.t('Input: shared before the node')),
    field,
  );
  const run = html('button', { type: 'button', class: 'tool primary' }, icon('run'), l10n.t('Run the node'));
  const reports = html('div', { class: 'reports' });
  const close = (): void => {
    visits.close();
    leave();
  };
  const element = html(
    'aside',
    { class: 'visit', 'aria-label': l10n.t('Node run again'), tabindex: -1, hidden: true },
    html('div', { class: 'row' }, title, iconButton('close', l10n.t('Close'), close)),
    input,
    html('div', { class: 'row' }, run),
    problem,
    reports,
  );
  let currentVisit: ShownVisit | undefined;
  store.on(['visit'], ({ visit }) => {
    const before = currentVisit;
    currentVisit = visit;
    element.hidden = visit === undefined;
    if (visit === undefined) return;
    const { node, number, isRunning, refusal, runs } = visit;
    setText(title, number > 1 ? l10n.t('{0}, visit {1}, run again', node, number) : l10n.t('{0}, run again', node));
    setText(problem, refusal ?? '');
    element.setAttribute('aria-busy', String(isRunning));
    run.disabled = isRunning;
    const isOther = before?.tracePath !== visit.tracePath || before.number !== visit.number || before.run !== visit.run;
    if (isOther) field.value = '';
    // What is being edited is not replaced by a result.
    if (visit.input !== undefined && (isOther || before?.input === undefined)) {
      field.value = visit.input;
      input.open = true;
      field.focus();
    }
    input.hidden = field.value === '';
    if (runs === before?.runs) return;
    input.open = false; // the result is what the user wants to see now
    reports.replaceChildren(
      ...(runs === undefined
        ? []
        : [column(l10n.t('Recorded'), runs.recorded, runs.now), column(l10n.t('Now'), runs.now, runs.recorded)]),
    );
  });
  const start = (): void => visits.runEdited(field.value);
  run.addEventListener('click', () => {
    if (field.value === '') visits.repeat();
    else start();
  });
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && field.value !== '') start();
    else return;
    event.preventDefault();
  });
  return element;
}

/** What one of the two runs did; what differs from the other is marked in words and by a line. */
function column(title: string, report: VisitReport, other: VisitReport): HTMLElement {
  const rows: readonly (readonly [string, unknown, unknown, readonly (Node | string)[]])[] = [
    [l10n.t('Action'), report.action, other.action, [html('code', {}, report.action ?? 'default')]],
    [
      l10n.t('Error'),
      report.error,
      other.error,
      report.error === undefined ? [] : [html('pre', { class: 'refusal' }, report.error)],
    ],
    [l10n.t('Output'), report.output, other.output, [html('pre', {}, report.output ?? l10n.t('not recorded'))]],
    [l10n.t('Changes'), report.changes, other.changes, report.changes.map(changeElement)],
    [l10n.t('Model calls'), report.calls, other.calls, report.calls.map(callElement)],
  ];
  const parts = rows
    .filter(([, , , content]) => content.length > 0)
    .map(([name, value, otherValue, content]) => {
      const differs = JSON.stringify(value) !== JSON.stringify(otherValue);
      const mark = differs ? [html('small', {}, l10n.t('different'))] : [];
      return html('section', { class: differs ? 'differs' : undefined }, html('h4', {}, name, ...mark), ...content);
    });
  const state = report.status === 'done' ? '' : ` · ${STATE_WORDS[report.status]}`;
  return html(
    'section',
    { class: 'report', 'aria-label': title },
    html('h3', {}, title, html('small', {}, `${formatMicros(report.micros)}${state}`)),
    ...parts,
  );
}

function callElement({ model, messages, reply }: VisitReport['calls'][number]): HTMLElement {
  const texts = messages.map(({ role, content }) => html('div', {}, html('small', {}, role), html('pre', {}, content)));
  return html(
    'details',
    {},
    html('summary', {}, model),
    ...texts,
    html('small', {}, l10n.t('reply')),
    html('pre', {}, reply),
  );
}
