import * as l10n from '@vscode/l10n';
import { formatInteger } from '../../core/text/format.ts';
import { html, setText, svg } from '../canvas/dom/elements.ts';
import type {
  FromJobPage,
  PageAction,
  ShownLine,
  ShownPage,
  ShownPlot,
  ToJobPage,
  ShownPreview,
} from './jobPageMessages.ts';
import { curveClass, Plot } from './plot.ts';

// The only global that VS Code adds to a webview. It can be called once.
declare const acquireVsCodeApi: () => { postMessage(message: FromJobPage): void };

const TITLES: Readonly<Record<PageAction, string>> = {
  showLog: l10n.t('Show Log'),
  attachDebugger: l10n.t('Attach Debugger'),
  extendHold: l10n.t('Extend Hold Time'),
  giveUpDebugging: l10n.t('Give Up Debugging'),
  cancelJob: l10n.t('Cancel Job'),
  browseResults: l10n.t('Browse Results'),
  downloadResults: l10n.t('Download Results'),
  comparePlots: l10n.t('Compare Plots'),
  openJobTerminal: l10n.t('Open Terminal in Job'),
  browseRunningJob: l10n.t('Browse Running Job'),
  openJobPort: l10n.t('Open Port of Job'),
  compareSubmitted: l10n.t('Compare Submitted Files'),
  resubmitJob: l10n.t('Submit Again'),
};
const api = acquireVsCodeApi();

const facts = html('dl', {});
const advice = html('p', { class: 'advice', role: 'status' });
const timeline = html('ol', {});
const buttons = html('div', { class: 'buttons', role: 'toolbar', 'aria-label': l10n.t('Actions') });
const output = html('pre', { tabindex: 0, 'aria-label': l10n.t('Last lines of the output') });
const results = html('p', {});
const previews = html('div', { class: 'previews' });
const pictures = html('div', { class: 'previews printed' });
const plots = html('div', { class: 'plots' });
const legend = html('ul', { class: 'legend', 'aria-label': l10n.t('Jobs in the plots') });
const others = html('p', { class: 'quiet' });
const drawn = new Map<string, Plot>();
const sections = {
  timeline: section(l10n.t('Timeline'), timeline),
  pictures: section(l10n.t('Pictures'), pictures),
  plots: section(l10n.t('Usage and metrics'), legend, plots, others),
  output: section(l10n.t('Output'), output),
  results: section(l10n.t('Results'), results, previews),
};
const heading = html('h1', {});
document.body.append(html('main', {}, heading, buttons, facts, advice, ...Object.values(sections)));

function section(title: string, ...content: readonly Node[]): HTMLElement {
  return html('section', { hidden: true, 'aria-label': title }, html('h2', {}, title), ...content);
}

function showOrHideResults(): void {
  sections.results.hidden = results.textContent === '' && previews.childElementCount === 0;
}

let shownActions = '';

/** Buttons stay the same elements while they are the same, so that the focus stays on them. */
function showActions(actions: readonly PageAction[]): void {
  if (shownActions === actions.join(' ')) return;
  shownActions = actions.join(' ');
  buttons.replaceChildren(
    ...actions.map((action) => {
      const button = html('button', { type: 'button' }, TITLES[action]);
      button.addEventListener('click', () => api.postMessage({ type: 'run', action }));
      return button;
    }),
  );
}

function show(page: ShownPage): void {
  setText(heading, page.title);
  showActions(page.actions);
  facts.replaceChildren(
    ...page.facts.map(([label, value]) => html('div', {}, html('dt', {}, label), html('dd', {}, value))),
  );
  setText(advice, page.advice ?? '');
  advice.hidden = page.advice === null;
  timeline.replaceChildren(...page.timeline.map((phase) => html('li', {}, phase)));
  sections.timeline.hidden = page.timeline.length === 0;
  sections.plots.hidden = page.plots.length === 0;
  showLegend(page.compared);
  for (const plot of page.plots) showPlot(plot, page.compared);
  setText(
    others,
    page.otherMetrics === 0 ? '' : l10n.t('{0} more metrics are not plotted.', formatInteger(page.otherMetrics)),
  );
  showOutput(page.output);
  sections.output.hidden = page.output.length === 0;
  setText(results, page.results ?? '');
  showOrHideResults();
}

let shownOutput = '';

/** Lines stay the same elements while they are the same, so that the focus stays on a link and a selection stays. */
function showOutput(lines: readonly ShownLine[]): void {
  const text = JSON.stringify(lines);
  if (shownOutput === text) return;
  shownOutput = text;
  output.replaceChildren(...lines.flatMap((line, index) => [index === 0 ? '' : '\n', ...lineParts(line)]));
}

function lineParts(line: ShownLine): readonly (Node | string)[] {
  const parts: (Node | string)[] = [];
  let at = 0;
  for (const { start, end } of line.links) {
    if (start < at) continue;
    const link = html('button', { type: 'button', class: 'link' }, line.text.slice(start, end));
    link.addEventListener('click', () => api.postMessage({ type: 'open', line: line.text, start }));
    parts.push(line.text.slice(at, start), link);
    at = end;
  }
  return [...parts, line.text.slice(at)];
}

/** Names the curves of each job, if there is more than one. */
function showLegend(compared: readonly string[]): void {
  legend.hidden = compared.length === 0;
  legend.replaceChildren(
    ...[l10n.t('This job'), ...compared].map((name, index) => {
      const line = svg('path', { class: curveClass(index), d: 'M0 5H24' });
      return html('li', {}, svg('svg', { viewBox: '0 0 24 10', 'aria-hidden': true }, line), name);
    }),
  );
}

function showPlot(metric: ShownPlot, compared: readonly string[]): void {
  const key = `${metric.axis} ${metric.name}`;
  const plot = drawn.get(key) ?? new Plot();
  if (!drawn.has(key)) plots.append(plot.element);
  drawn.set(key, plot);
  plot.show(metric, compared);
}

// VS Code's messages come from the frame around the page; nothing else can send any.
window.addEventListener('message', ({ data }: MessageEvent<ToJobPage>) => {
  if (data.type === 'page') show(data);
  else {
    pictures.replaceChildren(...data.printed.map(previewElement));
    sections.pictures.hidden = data.printed.length === 0;
    previews.replaceChildren(...data.results.map(previewElement));
    showOrHideResults();
  }
});
api.postMessage({ type: 'ready' });

/** A picture or the head of a table, with its name as its caption. */
function previewElement(preview: ShownPreview): HTMLElement {
  const { name } = preview;
  if (preview.type === 'picture')
    return html('figure', {}, html('img', { src: preview.data, alt: name }), html('figcaption', {}, name));
  const [head = [], ...rows] = preview.rows;
  const titles = html('tr', {}, ...head.map((cell) => html('th', { scope: 'col' }, cell)));
  const body = rows.map((row) => html('tr', {}, ...row.map((cell) => html('td', {}, cell))));
  const table = html('table', {}, html('caption', {}, name), html('thead', {}, titles), html('tbody', {}, ...body));
  // A wide table scrolls by itself, by keyboard too.
  return html('div', { class: 'table', tabindex: 0, role: 'group', 'aria-label': name }, table);
}
