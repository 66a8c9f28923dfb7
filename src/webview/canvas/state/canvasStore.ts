import type { Drawing } from '../../../flows/layout/drawing.ts';
import type { FlowFile } from '../../../flows/graph/graph.ts';
import type { VisitRuns } from '../../../flows/run/history/nodeVisit.ts';
import type { FlowLayout } from '../../../flows/layout/flowLayout.ts';
import type { ChangeKind } from '../../../flows/project/flowChanges.ts';
import type { VersionsMessage, ComparisonMessage, MovedNodes, RunInfo, SharedMessage } from './canvasMessages.ts';
import type { RunProgress } from './runProgress.ts';

/** The target of the keyboard and the menus. */
export type CanvasSelection =
  | { readonly type: 'node'; readonly path: string }
  /** A connection, or an unconnected action. */
  | { readonly type: 'edge'; readonly key: string };

/** A node or connection that differs between two versions or two runs. */
export interface CanvasChange {
  readonly kind: ChangeKind;
  /** The node or connection in a sentence. */
  readonly name: string;
  /** What differs; empty for what was added or removed. */
  readonly text: string;
  /** The id of its flow. */
  readonly flow: string;
  /** Where it is on the page; undefined if the shown flow does not have it. */
  readonly selection: CanvasSelection | undefined;
}

/** A visit of a node that runs again, or is about to. */
export interface ShownVisit {
  readonly run: string;
  /** Of the node, as in trace events. */
  readonly tracePath: string;
  readonly number: number;
  /** The name of the node in its flow. */
  readonly node: string;
  readonly isRunning: boolean;
  /** The shared state before it as JSON, once it was asked for. */
  readonly input?: string | undefined;
  readonly runs?: VisitRuns | undefined;
  /** Why it could not run. */
  readonly refusal?: string | undefined;
}

export interface CanvasState {
  readonly version: number;
  readonly file: FlowFile | undefined;
  readonly isTrusted: boolean;
  readonly isTrace: boolean;
  /** The id of the flow that is shown. */
  readonly flow: string | undefined;
  /** Paths of the nodes whose nested flow is expanded. */
  readonly open: ReadonlySet<string>;
  readonly moved: Readonly<Record<string, MovedNodes>>;
  /** Whether long flows are wrapped into columns. */
  readonly isWrapped: boolean;
  readonly shown: FlowLayout | undefined;
  readonly drawing: Drawing;
  readonly selected: CanvasSelection | undefined;
  /** Paths of the marked nodes, for extracting them. */
  readonly marked: ReadonlySet<string>;
  /** The node or connection at the caret of the source. */
  readonly caret: CanvasSelection | undefined;
  /** Paths of the nodes that the search finds; undefined without a search. */
  readonly found: ReadonlySet<string> | undefined;
  readonly runs: readonly RunInfo[];
  readonly run: RunInfo | undefined;
  readonly progress: RunProgress | undefined;
  /** Incremented whenever `progress` has changed. */
  readonly moment: number;
  /** The shown step; undefined follows the run. */
  readonly step: number | undefined;
  readonly shared: SharedMessage | undefined;
  readonly comparison: ComparisonMessage | undefined;
  readonly visit: ShownVisit | undefined;
  /** Two versions in one drawing, which is shown instead of the source's. */
  readonly versions: VersionsMessage | undefined;
  /** What differs between the two versions or runs that are compared. */
  readonly changes: readonly CanvasChange[];
  /** The index of the change that was gone to. */
  readonly change: number | undefined;
}

export const NOTHING_DRAWN: Drawing = { nodes: [], edges: [], bounds: { x: 0, y: 0, width: 0, height: 0 } };

const EMPTY: CanvasState = {
  version: 0,
  file: undefined,
  isTrusted: true,
  isTrace: false,
  flow: undefined,
  open: new Set(),
  moved: {},
  isWrapped: true,
  shown: undefined,
  drawing: NOTHING_DRAWN,
  selected: undefined,
  marked: new Set(),
  caret: undefined,
  found: undefined,
  runs: [],
  run: undefined,
  progress: undefined,
  moment: 0,
  step: undefined,
  shared: undefined,
  comparison: undefined,
  visit: undefined,
  versions: undefined,
  changes: [],
  change: undefined,
};

interface Listener {
  readonly keys: readonly (keyof CanvasState)[];
  readonly listen: (state: CanvasState) => void;
}

/** The state of the canvas. Parts of the page listen for changes of the keys that they draw. */
export class CanvasStore {
  #state = EMPTY;
  readonly #listeners: Listener[] = [];

  get state(): CanvasState {
    return this.#state;
  }

  /** Calls each listener once, after all changes are applied, in the order of registration. */
  set(changes: Partial<CanvasState>): void {
    const before = this.#state;
    this.#state = { ...before, ...changes };
    for (const { keys, listen } of this.#listeners) {
      if (keys.some((key) => key in changes && before[key] !== this.#state[key])) listen(this.#state);
    }
  }

  on(keys: readonly (keyof CanvasState)[], listen: (state: CanvasState) => void): void {
    this.#listeners.push({ keys, listen });
  }
}
