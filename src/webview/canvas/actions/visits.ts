import * as l10n from '@vscode/l10n';
import type { Host } from '../state/editor.ts';
import type { VisitInputMessage, VisitRunsMessage } from '../state/canvasMessages.ts';
import type { ShownVisit, CanvasStore } from '../state/canvasStore.ts';
import type { Announcer } from '../dom/announcer.ts';
import type { Runs } from './runs.ts';

interface VisitsParts {
  readonly store: CanvasStore;
  readonly host: Host;
  readonly runs: Runs;
  readonly announcer: Announcer;
}

/** Runs one node of a recorded run again, when asked for, and shows what it did beside what was recorded. */
export class Visits {
  readonly #parts: VisitsParts;

  constructor(parts: VisitsParts) {
    this.#parts = parts;
    const { store } = parts;
    store.on(['run'], ({ run, visit }) => {
      if (visit !== undefined && run?.id !== visit.run) this.close();
    });
  }

  /** Runs the visit of a node that is shown, else its last one, with the state that it had. */
  again(path: string): void {
    const visit = this.#visitOf(path);
    if (visit !== undefined && this.#isAllowed()) this.#run(visit);
  }

  /** Shows the state before that visit, to run the node with another one. Runs nothing. */
  edit(path: string): void {
    const visit = this.#visitOf(path);
    if (visit === undefined || !this.#isAllowed()) return;
    this.#parts.store.set({ visit });
    const { run, tracePath, number } = visit;
    this.#parts.host.send({ type: 'readInput', run, path: tracePath, visit: number });
  }

  /** Runs the shown visit with the state in the field. */
  runEdited(state: string): void {
    const { visit } = this.#parts.store.state;
    if (visit !== undefined && this.#isAllowed()) this.#run({ ...visit, input: state }, state);
  }

  /** Runs the shown visit with the state that it had. */
  repeat(): void {
    const { visit } = this.#parts.store.state;
    if (visit !== undefined && this.#isAllowed()) this.#run(visit);
  }

  /** Shows the state that the extension has read. */
  showInput({ run, path, visit: number, state, refusal }: VisitInputMessage): void {
    const { visit } = this.#parts.store.state;
    if (visit?.run !== run || visit.tracePath !== path || visit.number !== number) return;
    this.#parts.store.set({ visit: { ...visit, input: state, refusal } });
  }

  /** Shows what the node did. */
  show({ run, path, visit: number, runs, refusal }: VisitRunsMessage): void {
    const { visit } = this.#parts.store.state;
    if (visit?.run !== run || visit.tracePath !== path || visit.number !== number) return;
    this.#parts.store.set({ visit: { ...visit, isRunning: false, runs: runs ?? visit.runs, refusal } });
    const { now } = runs ?? {};
    const text = refusal ?? (now && l10n.t('{0} ran again: {1}', visit.node, now.error ?? now.action ?? 'default'));
    if (text !== undefined) this.#parts.announcer.say(text); // otherwise the file was not saved, so nothing ran
  }

  close(): void {
    this.#parts.store.set({ visit: undefined });
  }

  #run(visit: ShownVisit, state?: string): void {
    this.#parts.store.set({ visit: { ...visit, isRunning: true, refusal: undefined } });
    const { run, tracePath, number } = visit;
    this.#parts.host.send({
      type: 'runVisit',
      run,
      path: tracePath,
      visit: number,
      ...(state !== undefined && { state }),
    });
    this.#parts.announcer.say(l10n.t('Running {0} again', visit.node));
  }

  #visitOf(path: string): ShownVisit | undefined {
    const { run } = this.#parts.store.state;
    const step = this.#parts.runs.lastStepOf(path);
    if (run === undefined || step === undefined || !run.isRecorded) return undefined;
    const { path: tracePath, visit: number, node } = step;
    return { run: run.id, tracePath, number, node, isRunning: false };
  }

  #isAllowed(): boolean {
    if (this.#parts.store.state.isTrusted) return true;
    this.#parts.host.send({ type: 'manageTrust' });
    return false;
  }
}
