import * as l10n from '@vscode/l10n';
import { STATE_WORDS } from '../state/canvasWords.ts';
import type { TraceEvent } from '../../../agents/records/trace.ts';
import type { Announcer } from '../dom/announcer.ts';
import { shownFlow } from '../state/graphView.ts';
import type { Host } from '../state/editor.ts';
import type { RunInfo } from '../state/canvasMessages.ts';
import { type CanvasStep, RunProgress } from '../state/runProgress.ts';
import { stepText } from '../scene/runText.ts';
import type { CanvasStore } from '../state/canvasStore.ts';

const TICK_MS = 200;

/** The runs of the flow: starts and stops them, and selects the run and step to show. */
export class Runs {
  readonly #store: CanvasStore;
  readonly #host: Host;
  readonly #announcer: Announcer;
  #heardAt = 0;
  #isTicking = false;

  constructor(store: CanvasStore, host: Host, announcer: Announcer) {
    this.#store = store;
    this.#host = host;
    this.#announcer = announcer;
  }

  get isOpen(): boolean {
    return this.#store.state.run !== undefined;
  }

  /** Microseconds since the last event of a running run. */
  readonly idleMicros = (): number => {
    const { run } = this.#store.state;
    // If there is a message, it is unknown whether the run continues.
    return run?.state === 'running' && run.message === undefined ? (performance.now() - this.#heardAt) * 1_000 : 0;
  };

  start(type: 'run' | 'debug' | 'submit'): void {
    const flow = shownFlow(this.#store.state)?.id;
    if (flow === undefined || this.#store.state.isTrace) return;
    if (!this.#store.state.isTrusted) this.#host.send({ type: 'manageTrust' });
    else this.#host.send({ type, flow });
  }

  stop(): void {
    const { run } = this.#store.state;
    if (run?.state === 'running') this.#host.send({ type: 'stop', run: run.id });
  }

  ofSource(type: 'undo' | 'redo' | 'save'): void {
    this.#host.send({ type });
  }

  pin(): void {
    const { run } = this.#store.state;
    if (run !== undefined) this.#host.send({ type: 'pinTest', run: run.id });
  }

  open(id: string): void {
    this.#host.send({ type: 'openRun', run: id });
  }

  compareWith(id: string | undefined): void {
    const { run } = this.#store.state;
    if (run === undefined || id === undefined) this.#store.set({ comparison: undefined });
    else this.#host.send({ type: 'compare', run: run.id, other: id });
  }

  close(): void {
    this.#store.set({ run: undefined, progress: undefined, step: undefined, shared: undefined, comparison: undefined });
  }

  /** Updates the list of runs; the shown run may have ended. */
  list(runs: readonly RunInfo[]): void {
    const { run: shown, runs: before, flow, file } = this.#store.state;
    // The list of a restored canvas can arrive before its graph, and arrives again after it. Only then is it known which runs belong to its
    // flow.
    if (file === undefined) return;
    // A canvas that is opened while its flow runs or waits shows that run.
    const runsOfFlow = runs.filter((each) => each.flow === flow);
    const current =
      runsOfFlow.find(({ state, isElsewhere }) => state === 'running' && isElsewhere !== true) ?? runsOfFlow[0];
    const isOpenEnded = current?.state === 'running' || current?.state === 'waiting';
    if (before.length === 0 && shown === undefined && isOpenEnded) this.open(current.id);
    const run = runs.find(({ id }) => id === shown?.id) ?? shown;
    this.#store.set({ runs, run });
    if (shown?.state === 'running' && run !== undefined && run.state !== 'running') {
      this.#announcer.say(describeEnd(run));
      // A replay names where it first differs from the run that it replayed.
      if (run.replayOf !== undefined) this.compareWith(run.replayOf);
    }
  }

  show(run: RunInfo): void {
    const { file } = this.#store.state;
    const root = file?.flows.find(({ id }) => id === run.flow);
    const progress = new RunProgress(file, root);
    this.#heardAt = performance.now();
    const moment = this.#store.state.moment + 1;
    this.#store.set({ run, progress, moment, step: undefined, shared: undefined, comparison: undefined });
    if (run.state === 'running') void this.#tick();
  }

  add(id: string, events: readonly TraceEvent[]): void {
    const { run, progress, moment } = this.#store.state;
    if (run?.id !== id || progress === undefined) return;
    for (const event of events) progress.add(event);
    this.#heardAt = performance.now();
    this.#store.set({ moment: moment + 1 });
  }

  /** Shows a step; undefined follows the run. */
  goTo(step: number | undefined): void {
    const { run, progress } = this.#store.state;
    if (run === undefined || progress === undefined) return;
    const last = progress.firstStep + progress.steps.length - 1;
    const at = step === undefined ? undefined : Math.min(Math.max(step, progress.firstStep), last);
    if (last < 0) return;
    this.#store.set({ step: at });
    if (at === undefined) return;
    this.#host.send({ type: 'readShared', run: run.id, step: at });
    const target = this.stepAt(at);
    if (target !== undefined) this.#announcer.say(l10n.t('Step {0} of {1}: {2}', at + 1, last + 1, stepText(target)));
  }

  stepBy(count: 1 | -1): void {
    const { progress, step, run } = this.#store.state;
    if (progress === undefined) return;
    const last = progress.firstStep + progress.steps.length - 1;
    // While it runs, the canvas already shows the state after the last finished step.
    this.goTo((step ?? (run?.state === 'running' ? last + 1 : last)) + count);
  }

  stepAt(step: number | undefined): CanvasStep | undefined {
    const { progress } = this.#store.state;
    return step === undefined || progress === undefined ? undefined : progress.steps[step - progress.firstStep];
  }

  /** The path on the page of the node that waits for an answer; undefined if none does, or the source no longer has it. */
  readonly waitingPath = (): string | undefined =>
    this.#store.state.progress?.steps.findLast(({ status }) => status === 'waiting')?.pagePath;

  canRerun(path: string | undefined): boolean {
    return path !== undefined && this.#store.state.run?.isRecorded === true && this.lastStepOf(path) !== undefined;
  }

  /** Says why the selected node cannot run again. */
  refuseRerun(): void {
    const { run, isTrace } = this.#store.state;
    this.#announcer.warn(
      isTrace
        ? l10n.t('This is a trace of another program, which cannot run here.')
        : run === undefined
          ? l10n.t('There is no run to repeat yet. Press R to run the flow.')
          : run.isRecorded
            ? l10n.t('Select a node that ran in this run first.')
            : l10n.t('This run was not recorded here, so it cannot be repeated.'),
    );
  }

  /** Runs again from a node: at the shown step if it belongs to the node, else at the node's last visit. */
  rerunFrom(path: string): void {
    const { run } = this.#store.state;
    const step = this.lastStepOf(path);
    if (run !== undefined && step !== undefined) {
      this.#host.send({ type: 'rerunFrom', run: run.id, path: step.path, visit: step.visit });
    }
  }

  /** The shown step if it is a visit of this node, else the node's last one. */
  lastStepOf(path: string): CanvasStep | undefined {
    const { progress, step } = this.#store.state;
    const current = this.stepAt(step);
    return current?.pagePath === path ? current : progress?.steps.findLast(({ pagePath }) => pagePath === path);
  }

  // Updates the times of running nodes between events.
  async #tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    while (this.#store.state.run?.state === 'running') {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      if (this.#store.state.step === undefined) this.#store.set({ moment: this.#store.state.moment + 1 });
    }
    this.#isTicking = false;
    this.#store.set({ moment: this.#store.state.moment + 1 });
  }
}

/** The end of a run in a sentence, for screen readers. */
function describeEnd({ state, message, pause }: RunInfo): string {
  if (pause !== undefined) return l10n.t('The run waits for an answer: {0} Press A to answer.', pause.question);
  const word = STATE_WORDS[state];
  if (message === undefined) return l10n.t('The run is {0}', word);
  return state === 'failed' ? l10n.t('The run failed: {0}', message) : l10n.t('The run is {0}: {1}', word, message);
}
