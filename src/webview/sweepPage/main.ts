import * as l10n from '@vscode/l10n';
import { html, setText } from '../canvas/dom/elements.ts';
import { Curves } from './jobCurves.ts';
import type { FromSweepPage, ToSweepPage } from './sweepPageMessages.ts';
import { SweepJobsTable } from './jobsTable.ts';

// The only global that VS Code adds to a webview. It can be called once.
declare const acquireVsCodeApi: () => { postMessage(message: FromSweepPage): void };

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
