import { html, setText } from '../canvas/dom/elements.ts';
import type { ShownPlot, ToJobPage } from './messages.ts';
import { Plot } from './plot.ts';

// The only global that VS Code adds to a webview. It can be called once.
declare const acquireVsCodeApi: () => { postMessage(message: { readonly type: 'ready' }): void };

const facts = html('dl', {});
const advice = html('p', { class: 'advice', role: 'status' });
const timeline = html('ol', {});
const results = html('p', {});
const plots = html('div', { class: 'plots' });
const others = html('p', { class: 'quiet' });
const drawn = new Map<string, Plot>();
const sections = {
  timeline: section('Time line', timeline),
  plots: section('Usage and metrics', plots, others),
  results: section('Results', results),
};
document.body.append(html('main', {}, facts, advice, sections.timeline, sections.plots, sections.results));

function section(title: string, ...content: readonly Node[]): HTMLElement {
  return html('section', { hidden: true, 'aria-label': title }, html('h2', {}, title), ...content);
}

function show(page: ToJobPage): void {
  facts.replaceChildren(...page.facts.flatMap(([label, value]) => [html('dt', {}, label), html('dd', {}, value)]));
  setText(advice, page.advice ?? '');
  advice.hidden = page.advice === null;
  timeline.replaceChildren(...page.timeline.map((phase) => html('li', {}, phase)));
  sections.timeline.hidden = page.timeline.length === 0;
  sections.plots.hidden = page.plots.length === 0;
  for (const plot of page.plots) showPlot(plot);
  setText(
    others,
    page.otherMetrics === 0 ? '' : `${page.otherMetrics.toLocaleString('en-US')} more metrics are not plotted.`,
  );
  setText(results, page.results ?? '');
  sections.results.hidden = page.results === null;
}

function showPlot(shown: ShownPlot): void {
  const key = `${shown.axis} ${shown.name}`;
  const plot = drawn.get(key) ?? new Plot();
  if (!drawn.has(key)) plots.append(plot.element);
  drawn.set(key, plot);
  plot.show(shown);
}

// VS Code's messages come from the frame around the page; nothing else can send any.
window.addEventListener('message', ({ data }: MessageEvent<ToJobPage>) => {
  if (data.type === 'page') show(data);
});
acquireVsCodeApi().postMessage({ type: 'ready' });
