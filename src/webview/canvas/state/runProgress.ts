import type { TraceEvent } from '../../../agents/run/trace.ts';
import type { FlowFile, FlowGraph } from '../../../flows/graph/graph.ts';
import { unitsOfPath } from '../../../flows/graph/tracePath.ts';
import { type Entry, OverlayBuilder, type RunOverlay, type RunStep } from './runOverlay.ts';

// What is kept of a run that goes round for hours. The counts stay exact only for what is kept, so the canvas says from where.
const MAX_ENTRIES = 50_000;

interface OpenVisit {
  readonly startedAt: number;
  readonly isFlow: boolean;
  tokens: number;
  cost: number | undefined;
}

/** The course of a run, gathered from its trace events. */
export class RunProgress {
  readonly #resolve: (tracePath: string) => string | undefined;
  readonly #entries: Entry[] = [];
  readonly #steps: RunStep[] = [];
  readonly #open = new Map<string, OpenVisit>();
  #dropped = 0;
  #latest = 0;

  constructor(file: FlowFile | undefined, root: FlowGraph | undefined) {
    const known = new Map<string, string | undefined>();
    this.#resolve = (tracePath) => {
      if (!known.has(tracePath)) {
        const units = (file && root && unitsOfPath(file, root, tracePath)) ?? [];
        known.set(tracePath, units.flatMap(({ node }) => node?.id ?? []).join('/') || undefined);
      }
      return known.get(tracePath);
    };
  }

  get steps(): readonly RunStep[] {
    return this.#steps;
  }

  /** The number that the first of `steps` has in the whole run. */
  get firstStep(): number {
    return this.#dropped;
  }

  add(event: TraceEvent): void {
    const visit = `${event.path}\n${event.visit}`;
    const path = this.#resolve(event.path);
    this.#latest = event.at;
    switch (event.type) {
      case 'node-start':
      case 'flow-start': {
        const isFlow = event.type === 'flow-start';
        this.#open.set(visit, { startedAt: event.at, isFlow, tokens: 0, cost: undefined });
        this.#push({ type: 'start', path, at: event.at });
        return;
      }
      case 'model': {
        const open = this.#open.get(visit);
        if (open === undefined) return;
        open.tokens += (event.inputTokens ?? 0) + (event.outputTokens ?? 0);
        if (event.estimatedCost !== undefined) open.cost = (open.cost ?? 0) + event.estimatedCost;
        return;
      }
      case 'node-end':
      case 'flow-end':
        this.#end(visit, event, { action: event.action, isReplayed: event.isReplayed, message: undefined });
        return;
      case 'error':
        this.#end(visit, event, { action: undefined, isReplayed: false, message: event.message });
        return;
      case 'retry':
        this.#push({ type: 'retry', path, message: event.message });
        return;
      case 'edge':
        this.#push({ type: 'edge', path, action: event.action });
        return;
      case 'attempt':
      case 'fallback':
      case 'warning':
        return;
    }
  }

  /** How things stood after a step, or (without one) as they stand `idleMicros` after the last event. */
  overlayAt(step: number | undefined, idleMicros = 0): RunOverlay {
    const overlay = new OverlayBuilder();
    let count = this.#dropped - 1;
    for (const entry of this.#entries) {
      // After its last step an earlier moment still shows the way that was taken, but not what begins then.
      if (step !== undefined && count >= step && entry.type !== 'edge' && entry.type !== 'flow-end') break;
      if (entry.type === 'step') count += 1;
      overlay.add(entry);
    }
    if (step === undefined) overlay.addRunningTime(this.#latest + idleMicros);
    return overlay;
  }

  #end(
    visit: string,
    event: { readonly path: string; readonly node: string; readonly visit: number; readonly at: number },
    result: Pick<RunStep, 'action' | 'isReplayed' | 'message'>,
  ): void {
    const open = this.#open.get(visit);
    this.#open.delete(visit);
    const path = this.#resolve(event.path);
    const micros = event.at - (open?.startedAt ?? event.at);
    if (open?.isFlow === true) {
      this.#push({ type: 'flow-end', path, micros, message: result.message });
      return;
    }
    const step: RunStep = {
      ...result,
      tracePath: event.path,
      path,
      visit: event.visit,
      label: event.node,
      startedAtMicros: open?.startedAt ?? event.at,
      micros,
      tokens: open?.tokens ?? 0,
      cost: open?.cost,
    };
    this.#steps.push(step);
    this.#push({ type: 'step', step });
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    if (this.#entries.length <= MAX_ENTRIES * 1.2) return;
    // Cut before a visit begins: the end of one that was not seen beginning would be counted as none.
    const from = this.#entries.length - MAX_ENTRIES;
    const cut = this.#entries.findIndex(({ type }, index) => index >= from && type === 'start');
    const removed = this.#entries.splice(0, cut);
    const steps = removed.filter(({ type }) => type === 'step').length;
    this.#steps.splice(0, steps);
    this.#dropped += steps;
  }
}
