import * as l10n from '@vscode/l10n';
import { formatMeasured } from '../../core/text/format.ts';
import { html } from '../canvas/dom/elements.ts';
import type { SweepPageJob, ToSweepPage } from './sweepPageMessages.ts';

export interface TableActions {
  /** The job that the pointer or the focus is on; undefined for none. */
  onPoint(index: number | undefined): void;
  onOpen(index: number): void;
  onEdit(index: number): void;
}

type Key = (job: SweepPageJob) => number | string;

/** The jobs with their parameters, metrics, states and costs. A click on a title sorts, a second one reverses. */
export class SweepJobsTable {
  readonly element = html('table', {});
  readonly #actions: TableActions;
  #order: { readonly column: number; readonly isDescending: boolean } | undefined;
  #shown: ToSweepPage | undefined;

  constructor(actions: TableActions) {
    this.#actions = actions;
  }

  show(sweep: ToSweepPage): void {
    const focused = this.element.ownerDocument.activeElement?.getAttribute('data-key') ?? undefined;
    this.#shown = sweep;
    const { parameters, metrics, jobs, costTitle } = sweep;
    const keys: readonly Key[] = [
      ...parameters.map(
        (_, column): Key =>
          (job) =>
            valueOf(job.parameters[column] ?? ''),
      ),
      ...metrics.map(
        (_, column): Key =>
          (job) =>
            job.values[column] ?? Infinity,
      ),
      ({ state }) => state,
      ({ seconds }) => seconds ?? Infinity,
      ({ spent }) => spent ?? Infinity,
    ];
    const columns = [
      ...parameters.map((title) => ({ title })),
      ...metrics.map((title) => ({ title, class: 'number' })),
      { title: l10n.t('State') },
      { title: l10n.t('Time'), class: 'number' },
      { title: costTitle, class: 'number' },
    ];
    const head = columns.map((column, index) => this.#title(column, index));
    const rows = this.#sorted(jobs, keys).map((job) => this.#row(job));
    this.element.replaceChildren(
      html('thead', {}, html('tr', {}, ...head, html('th', { scope: 'col' }, l10n.t('Actions')))),
      html('tbody', {}, ...rows),
    );
    for (const each of this.element.querySelectorAll('button')) {
      if (focused !== undefined && each.getAttribute('data-key') === focused) each.focus();
    }
  }

  #sorted(jobs: readonly SweepPageJob[], keys: readonly Key[]): readonly SweepPageJob[] {
    const key = this.#order === undefined ? undefined : keys[this.#order.column];
    if (key === undefined) return jobs;
    const sign = this.#order?.isDescending === true ? -1 : 1;
    return jobs.toSorted((a, b) => {
      const [x, y] = [key(a), key(b)];
      // Rows without a value are at the end in both directions.
      if (x === Infinity || y === Infinity) return Number(x === Infinity) - Number(y === Infinity);
      return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)));
    });
  }

  #title({ title, ...attributes }: { readonly title: string; readonly class?: string }, column: number): HTMLElement {
    const isSorted = this.#order?.column === column;
    const direction = this.#order?.isDescending === true ? 'descending' : 'ascending';
    const button = html('button', { 'data-key': `title ${column}` }, title);
    button.addEventListener('click', () => {
      this.#order = { column, isDescending: isSorted && direction === 'ascending' };
      if (this.#shown !== undefined) this.show(this.#shown);
    });
    return html('th', { ...attributes, scope: 'col', 'aria-sort': isSorted ? direction : undefined }, button);
  }

  #row(job: SweepPageJob): HTMLElement {
    const { index, parameters, values, state, time, cost, isSent } = job;
    const name = parameters.join(' ');
    const action = (title: string, run: (index: number) => void): HTMLElement => {
      const button = html('button', { 'data-key': `${title} ${index}`, 'aria-label': `${title}: ${name}` }, title);
      button.addEventListener('click', () => run(index));
      return button;
    };
    const numbers = values.map((value) => html('td', { class: 'number' }, value === null ? '' : formatMeasured(value)));
    const row = html(
      'tr',
      {},
      ...parameters.map((value) => html('td', {}, value)),
      ...numbers,
      html('td', {}, state),
      html('td', { class: 'number' }, time),
      html('td', { class: 'number' }, cost),
      html(
        'td',
        {},
        ...(isSent ? [action(l10n.t('Show'), (each) => this.#actions.onOpen(each))] : []),
        action(l10n.t('Edit and submit'), (each) => this.#actions.onEdit(each)),
      ),
    );
    for (const event of ['mouseenter', 'focusin']) row.addEventListener(event, () => this.#actions.onPoint(index));
    for (const event of ['mouseleave', 'focusout']) row.addEventListener(event, () => this.#actions.onPoint(undefined));
    return row;
  }
}

function valueOf(text: string): number | string {
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}
