import * as l10n from '@vscode/l10n';
import { formatInteger, formatMicros } from '../../../core/text/format.ts';
import { html, setAttributes, svg, setText } from '../dom/elements.ts';
import { type IconName, icon } from '../dom/icons.ts';
import type { ComparisonMessage, RunInfo } from '../state/canvasMessages.ts';
import { addUsage, NO_USAGE } from '../../../flows/run/protocol/timelineStep.ts';
import type { CanvasStep, RunProgress } from '../state/runProgress.ts';
import { stepText, usageText } from '../scene/runText.ts';
import type { Runs } from '../actions/runs.ts';
import type { Visits } from '../actions/visits.ts';
import type { CanvasState, CanvasStore } from '../state/canvasStore.ts';
import { STATE_WORDS, stepCount } from '../state/canvasWords.ts';
import { iconButton, timeLabel } from './toolbar.ts';

// More bars could not be distinguished on any screen.
const MAX_BARS = 2_000;
const STATE_ICONS: Readonly<Record<RunInfo['state'], IconName>> = {
  running: 'run',
  done: 'done',
  failed: 'failed',
  stopped: 'stop',
  waiting: 'help',
  answered: 'done',
};

/** The run below the drawing, step by step: its costs, the shown step, and its actions. */
export function timeline(store: CanvasStore, runs: Runs, visits: Visits): HTMLElement {
  const summary = html('span', { class: 'summary', role: 'status' });
  const momentText = html('span', { class: 'moment' });
  const slider = html('input', { type: 'range', min: 0, step: 1, 'aria-label': l10n.t('Step') });
  const bars = svg('path', { class: 'steps' });
  const failures = svg('path', { class: 'failures' });
  const mark = svg('path', { class: 'divergence' });
  const picture = { class: 'strip', preserveAspectRatio: 'none', 'aria-hidden': 'true' };
  const strip = svg('svg', picture, bars, failures, mark);
  const comparing = html('select', {
    'aria-label': l10n.t('Compare with another run'),
    title: l10n.t('Compare with another run'),
  });
  const difference = html('p', { class: 'difference', role: 'status' });
  const follow = iconButton('next', l10n.t('Follow the run'), () => runs.goTo(undefined));
  const pin = iconButton('pin', l10n.t('Pin as test'), () => runs.pin(), { isWide: true });
  const rerun = iconButton('run', l10n.t('Rerun from this step'), () => {
    const path = runs.stepAt(store.state.step)?.pagePath;
    if (path !== undefined) runs.rerunFrom(path);
  });
  const again = iconButton('node', l10n.t('Run only this node again (Shift+R)'), () => {
    const path = runs.stepAt(store.state.step)?.pagePath;
    if (path !== undefined) visits.again(path);
  });
  const close = iconButton('close', l10n.t('Close the run'), () => runs.close());
  const back = iconButton('previous', l10n.t('Step back (,)'), () => runs.stepBy(-1));
  const forward = iconButton('chevron', l10n.t('Step forward (.)'), () => runs.stepBy(1));
  const element = html(
    'section',
    { class: 'timeline', 'aria-label': l10n.t('Run'), hidden: true },
    html('div', { class: 'row' }, summary, html('span', { class: 'space' }), comparing, again, rerun, pin, close),
    html('div', { class: 'row' }, back, html('div', { class: 'track' }, strip, slider), forward, follow),
    momentText,
    difference,
  );

  const drawStrip = (steps: readonly CanvasStep[], divergence: number | undefined): void => {
    setAttributes(strip, { viewBox: `0 0 ${Math.max(steps.length, 1)} 10` });
    const bar = (index: number): string => `M${index + 0.08} 2h.84v6h-.84z`;
    const done = steps.map(({ error }, index) => (error === undefined ? bar(index) : ''));
    const failed = steps.map(({ error }, index) => (error === undefined ? '' : bar(index)));
    bars.setAttribute('d', steps.length > MAX_BARS ? `M0 2h${steps.length}v6h-${steps.length}z` : done.join(''));
    failures.setAttribute('d', failed.join(''));
    mark.setAttribute('d', divergence === undefined ? '' : `M${divergence} 0v10`);
    // The thumb is over the middle of its step.
    const half = 50 / Math.max(steps.length, 1);
    slider.style.insetInlineStart = `calc(${half}% - 3px)`;
    slider.style.width = `calc(${100 - 2 * half}% + 6px)`;
  };
  const showComparing = (others: readonly RunInfo[], other: string | undefined): void => {
    comparing.replaceChildren(
      html('option', { value: '' }, l10n.t('Compare with…')),
      ...others.map(({ id, startedAt, state }) =>
        html('option', { value: id }, `${STATE_WORDS[state]} · ${timeLabel(startedAt)}`),
      ),
    );
    comparing.value = other ?? '';
    comparing.hidden = others.length === 0;
  };
  const show = ({ run, progress, step, comparison, runs: all }: CanvasState): void => {
    element.hidden = run === undefined || progress === undefined;
    if (run === undefined || progress === undefined) return;
    const { steps, firstStep } = progress;
    summary.replaceChildren(icon(STATE_ICONS[run.state]), html('span', {}, summaryOf(run, progress)));
    element.dataset['state'] = run.state;
    const at = step === undefined ? steps.length - 1 : step - firstStep;
    setAttributes(slider, { max: Math.max(steps.length - 1, 0) });
    slider.value = String(Math.max(at, 0));
    const current = steps[at];
    const text =
      current === undefined
        ? l10n.t('No step has finished yet')
        : l10n.t('Step {0} of {1}: {2}', firstStep + at + 1, firstStep + steps.length, stepText(current));
    setAttributes(slider, { 'aria-valuetext': text });
    setText(momentText, text);
    momentText.classList.toggle('failed', current?.error !== undefined);
    follow.disabled = step === undefined;
    pin.disabled = !run.isRecorded || run.state === 'running';
    rerun.disabled = !runs.canRerun(step === undefined ? undefined : current?.pagePath);
    again.disabled = rerun.disabled;
    drawStrip(steps, comparison?.divergence === undefined ? undefined : comparison.divergence.step - firstStep);
    showComparing(
      all.filter(({ id, flow }) => id !== run.id && flow === run.flow),
      comparison?.other,
    );
    setText(difference, comparison === undefined ? '' : describeComparison(comparison));
  };

  slider.addEventListener('input', () => runs.goTo((store.state.progress?.firstStep ?? 0) + Number(slider.value)));
  strip.addEventListener('pointerdown', ({ clientX }) => {
    const { left, width } = strip.getBoundingClientRect();
    const { progress } = store.state;
    if (progress === undefined || width === 0) return;
    runs.goTo(progress.firstStep + Math.floor(((clientX - left) / width) * progress.steps.length));
  });
  comparing.addEventListener('change', () => runs.compareWith(comparing.value || undefined));
  store.on(['run', 'progress', 'moment', 'step', 'comparison', 'runs'], show);
  return element;
}

function describeComparison({ divergence }: ComparisonMessage): string {
  if (divergence === undefined) return l10n.t('Both runs are the same.');
  return l10n.t('First difference at step {0}: {1}', divergence.step + 1, divergence.reason);
}

function summaryOf({ state, durationMs, remote, message }: RunInfo, { steps, firstStep }: RunProgress): string {
  const usage = steps.reduce((sum, step) => addUsage(sum, step.usage), NO_USAGE);
  return [
    capitalized(stateText(state, message)),
    durationMs === undefined ? '' : formatMicros(durationMs * 1_000),
    stepCount(firstStep + steps.length),
    usageText(usage),
    firstStep === 0 ? '' : l10n.t('totals of the last {0} steps', formatInteger(steps.length)),
    remote === undefined ? '' : l10n.t('on {0}', remote),
  ]
    .filter(Boolean)
    .join(' · ');
}

function stateText(state: RunInfo['state'], message: string | undefined): string {
  if (state === 'waiting') return l10n.t('Waiting for an answer');
  if (message === undefined) return STATE_WORDS[state];
  return state === 'running' ? message : `${STATE_WORDS[state]}: ${message}`;
}

function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
