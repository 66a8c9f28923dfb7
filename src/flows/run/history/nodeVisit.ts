import type { ShownChange } from '../protocol/shownState.ts';
import type { TimelineStep } from '../protocol/timelineStep.ts';

/** One visit of a node in a run. */
export interface NodeVisit {
  /** The path of the node in trace events, or its name. */
  readonly path: string;
  /** The last visit if absent. */
  readonly visit?: number | undefined;
}

/** What a visit did, readable and truncated. */
export interface VisitReport {
  readonly status: TimelineStep['status'];
  /** As `post` returned it. */
  readonly action: string | undefined;
  /** The result of `exec` as JSON, of a batch the list of its results; undefined if it was not recorded. */
  readonly output: string | undefined;
  /** What the visit changed in the shared state. */
  readonly changes: readonly ShownChange[];
  readonly error: string | undefined;
  readonly calls: readonly VisitCall[];
  readonly micros: number;
}

/** A call of a language model. */
interface VisitCall {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly reply: string;
}

/** A visit as it was recorded, and as the current code does it. */
export interface VisitRuns {
  readonly path: string;
  readonly visit: number;
  readonly recorded: VisitReport;
  readonly now: VisitReport;
}
