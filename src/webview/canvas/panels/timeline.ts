import { formatCount, formatMicros } from '../../../core/text/format.ts';
import { html, setAttributes, svg, setText } from '../dom/elements.ts';
import { type IconName, icon } from '../dom/icons.ts';
import type { RunInfo } from '../state/messages.ts';
import { addUsage, NO_USAGE } from '../../../flows/run/protocol/timelineStep.ts';
import type { CanvasStep, RunProgress } from '../state/runProgress.ts';
import { stepText, usageText } from '../scene/runText.ts';
import type { Runs } from '../actions/runs.ts';
import type { CanvasState, Store } from '../state/store.ts';
import { iconButton, timeOf } from './toolbar.ts';

// More bars could not be distinguished on any screen.
const MAX_BARS = 2_000;
const STATE_ICONS: Readonly<Record<RunInfo['state'], IconName>> = {
  running: 'run',
  done: 'done',
  failed: 'failed',
  stopped: 'stop',
};

/** The run below the drawing, step by step: its costs, the shown step, and its actions. */
export class Timeline {
  readonly element = html('section', { class: 'timeline', 'aria-label': 'Run', hidden: true });
  readonly #runs: Runs;
  readonly #summary = html('span', { class: 'summary', role: 'status' });
  readonly #moment = html('span', { class: 'moment' });
  readonly #slider = html('input', { type: 'range', min: 0, step: 1, 'aria-label': 'Step' });
  readonly #steps = svg('path', { class: 'steps' });
  readonly #failures = svg('path', { class: 'failures' });
  readonly #divergence = svg('path', { class: 'divergence' });
  readonly #strip = svg('svg', { class: 'strip', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  readonly #comparing = html('select', { 'aria-label': 'Compare with another run', title: 'Compare with another run' });
  readonly #difference = html('p', { class: 'difference', role: 'status' });
  readonly #follow: HTMLButtonElement;
  readonly #pin: HTMLButtonElement;
  readonly #rerun: HTMLButtonElement;

  constructor(store: Store, runs: Runs) {
    this.#runs = runs;
    this.#strip.append(this.#steps, this.#failures, this.#divergence);
    this.#follow = iconButton('next', 'Follow the run', () => runs.goTo(undefined));
    this.#pin = iconButton('pin', 'Pin as test', () => runs.pin(), { isWide: true });
    this.#rerun = iconButton('run', 'Rerun from this step', () => {
      const path = runs.stepAt(store.state.step)?.pagePath;
      if (path !== undefined) runs.rerunFrom(path);
    });
    this.#slider.addEventListener('input', () =>
      runs.goTo((store.state.progress?.firstStep ?? 0) + Number(this.#slider.value)),
    );
    this.#strip.addEventListener('pointerdown', ({ clientX }) => {
      const { left, width } = this.#strip.getBoundingClientRect();
      const { progress } = store.state;
      if (progress === undefined || width === 0) return;
      runs.goTo(progress.firstStep + Math.floor(((clientX - left) / width) * progress.steps.length));
    });
    this.#comparing.addEventListener('change', () => runs.compareWith(this.#comparing.value || undefined));
    this.element.append(
      html(
        'div',
        { class: 'row' },
        this.#summary,
        html('span', { class: 'space' }),
        this.#comparing,
        this.#rerun,
        this.#pin,
        iconButton('close', 'Close the run', () => runs.close()),
      ),
      html(
        'div',
        { class: 'row' },
        iconButton('previous', 'Step back (,)', () => runs.stepBy(-1)),
        html('div', { class: 'track' }, this.#strip, this.#slider),
        iconButton('chevron', 'Step forward (.)', () => runs.stepBy(1)),
        this.#follow,
      ),
      this.#moment,
      this.#difference,
    );
    store.on(['run', 'progress', 'moment', 'step', 'comparison', 'runs'], (state) => this.#show(state));
  }

  #show(state: CanvasState): void {
    const { run, progress, step, comparison, runs } = state;
    this.element.hidden = run === undefined || progress === undefined;
    if (run === undefined || progress === undefined) return;
    const { steps, firstStep } = progress;
    this.#summary.replaceChildren(icon(STATE_ICONS[run.state]), html('span', {}, summaryOf(run, progress)));
    this.element.dataset['state'] = run.state;
    const at = step === undefined ? steps.length - 1 : step - firstStep;
    setAttributes(this.#slider, { max: Math.max(steps.length - 1, 0) });
    this.#slider.value = String(Math.max(at, 0));
    const shown = steps[at];
    const text =
      shown === undefined
        ? 'No step has finished yet'
        : `Step ${firstStep + at + 1} of ${firstStep + steps.length}: ${stepText(shown)}`;
    setAttributes(this.#slider, { 'aria-valuetext': text });
    setText(this.#moment, text);
    this.#moment.classList.toggle('failed', shown?.error !== undefined);
    this.#follow.disabled = step === undefined;
    this.#pin.disabled = !run.isRecorded || run.state === 'running';
    this.#rerun.disabled = !this.#runs.canRerun(step === undefined ? undefined : shown?.pagePath);
    this.#drawStrip(steps, comparison?.divergence === undefined ? undefined : comparison.divergence.step - firstStep);
    this.#showComparing(run, runs, comparison?.other);
    setText(
      this.#difference,
      comparison === undefined
        ? ''
        : comparison.divergence === undefined
          ? 'Both runs are the same.'
          : `First difference at step ${comparison.divergence.step + 1}: ${comparison.divergence.reason}`,
    );
  }

  #drawStrip(steps: readonly CanvasStep[], divergence: number | undefined): void {
    setAttributes(this.#strip, { viewBox: `0 0 ${Math.max(steps.length, 1)} 10` });
    const bar = (index: number): string => `M${index + 0.08} 2h.84v6h-.84z`;
    const bars = steps.map(({ error }, index) => (error === undefined ? bar(index) : ''));
    this.#steps.setAttribute('d', steps.length > MAX_BARS ? `M0 2h${steps.length}v6h-${steps.length}z` : bars.join(''));
    this.#failures.setAttribute('d', steps.map(({ error }, index) => (error === undefined ? '' : bar(index))).join(''));
    this.#divergence.setAttribute('d', divergence === undefined ? '' : `M${divergence} 0v10`);
    // The thumb is over the middle of its step.
    const half = 50 / Math.max(steps.length, 1);
    this.#slider.style.insetInlineStart = `calc(${half}% - 3px)`;
    this.#slider.style.width = `calc(${100 - 2 * half}% + 6px)`;
  }

  #showComparing(run: RunInfo, runs: readonly RunInfo[], other: string | undefined): void {
    const others = runs.filter(({ id, flow }) => id !== run.id && flow === run.flow);
    this.#comparing.replaceChildren(
      html('option', { value: '' }, 'Compare with…'),
      ...others.map(({ id, startedAt, state }) => html('option', { value: id }, `${timeOf(startedAt)} · ${state}`)),
    );
    this.#comparing.value = other ?? '';
    this.#comparing.hidden = others.length === 0;
  }
}

function summaryOf({ state, durationMs, remote, message }: RunInfo, { steps, firstStep }: RunProgress): string {
  const usage = steps.reduce((sum, step) => addUsage(sum, step.usage), NO_USAGE);
  return [
    `${state.charAt(0).toUpperCase()}${state.slice(1)}${message === undefined ? '' : `: ${message}`}`,
    durationMs === undefined ? '' : formatMicros(durationMs * 1_000),
    formatCount(firstStep + steps.length, 'step'),
    usageText(usage),
    firstStep === 0 ? '' : `totals of the last ${formatCount(steps.length, 'step')}`,
    remote === undefined ? '' : `on ${remote}`,
  ]
    .filter(Boolean)
    .join(' · ');
}
