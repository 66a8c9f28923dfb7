import * as l10n from '@vscode/l10n';
import { html, setText } from '../canvas/dom/elements.ts';
import type { FromSweepPage, ToSweepPage } from './sweepPageMessages.ts';
import { SweepJobsTable } from './jobsTable.ts';
import { COMPACT, drawCurve, valueRange } from '../jobPage/plot.ts';
import { PlotFrame } from '../jobPage/plotFrame.ts';

// The only global that VS Code adds to a webview. It can be called once.
declare const acquireVsCodeApi: () => { postMessage(message: FromSweepPage): void };

/** The chosen metric of all jobs in one plot. One job can be highlighted. */
class Curves {
  readonly #frame = new PlotFrame();
  readonly #paths = new Map<number, SVGPathElement>();

  get element(): HTMLElement {
    return this.#frame.element;
  }

  show({ jobs, metric }: Pick<ToSweepPage, 'jobs' | 'metric'>): void {
    const drawn = jobs.filter(({ curve }) => curve.length > 0);
    const name = l10n.t('{0} of {1} jobs, by step', metric ?? '', drawn.length.toLocaleString('en-US'));
    const points = drawn.flatMap(({ curve }) => curve);
    const xs = valueRange(points.map(([x]) => x));
    const ys = valueRange(points.flatMap(([, y]) => (y === null ? [] : [y])));
    this.#paths.clear();
    for (const { index, curve } of drawn) {
      const inOrder = curve.toSorted(([a], [b]) => a - b);
      this.#paths.set(index, drawCurve(inOrder, { xs, ys }));
    }
    this.#frame.show(name, [...this.#paths.values()], {
      top: COMPACT.format(ys.high),
      bottom: COMPACT.format(ys.low),
      first: COMPACT.format(xs.low),
      last: xs.high > xs.low ? COMPACT.format(xs.high) : '',
    });
  }

  /** Shows which curve is that of a job; undefined for none. */
  highlight(index: number | undefined): void {
    for (const [each, path] of this.#paths) path.classList.toggle('chosen', each === index);
    const chosen = index === undefined ? undefined : this.#paths.get(index);
    if (chosen !== undefined) this.#frame.drawing.append(chosen);
  }
}

const editor = acquireVsCodeApi();
const title = html('h1', {});
const summary = html('p', { role: 'status' });
const cancel = button(l10n.t('Cancel all'), { type: 'cancel' });
const resume = button(l10n.t('Send the others'), { type: 'resume' });
const download = button(l10n.t('Download Results'), { type: 'download' });
const metric = html('select', { 'aria-label': l10n.t('Metric of the plot') });
const curves = new Curves();
const plot = html('section', { 'aria-label': l10n.t('Plot') }, metric, curves.element);
const table = new SweepJobsTable({
  onPoint: (index) => curves.highlight(index),
  onOpen: (index) => editor.postMessage({ type: 'open', index }),
  onEdit: (index) => editor.postMessage({ type: 'edit', index }),
});
metric.addEventListener('change', () => editor.postMessage({ type: 'choose', metric: metric.value }));
document.body.append(
  html(
    'main',
    {},
    title,
    summary,
    html('p', {}, download, resume, cancel),
    plot,
    html('div', { class: 'wide' }, table.element),
  ),
);

function button(text: string, message: FromSweepPage): HTMLButtonElement {
  const element = html('button', { hidden: true }, text);
  element.addEventListener('click', () => editor.postMessage(message));
  return element;
}

function show(sweep: ToSweepPage): void {
  setText(title, sweep.title);
  setText(summary, sweep.summary);
  cancel.hidden = !sweep.canCancel;
  resume.hidden = !sweep.canResume;
  download.hidden = !sweep.canDownload;
  plot.hidden = sweep.metric === null;
  metric.replaceChildren(...sweep.metrics.map((name) => html('option', { value: name }, name)));
  metric.value = sweep.metric ?? '';
  curves.show(sweep);
  table.show(sweep);
}

// VS Code's messages come from the frame around the page; nothing else can send any.
window.addEventListener('message', ({ data }: MessageEvent<ToSweepPage>) => {
  if (data.type === 'sweep') show(data);
});
editor.postMessage({ type: 'ready' });
