import type { TraceEvent } from '../../../agents/records/trace.ts';
import type { FlowFile } from '../../../flows/graph/graph.ts';
import type { RunPause } from '../../../flows/run/protocol/flowOutcome.ts';
import type { RunChange } from '../../../flows/run/history/runChanges.ts';
import type { ComparedFlows } from '../../../flows/project/flowChanges.ts';
import type { ShownChange } from '../../../flows/run/protocol/shownState.ts';
import type { VisitRuns } from '../../../flows/run/history/nodeVisit.ts';
import type { Point } from '../../../flows/layout/shape.ts';

/** Messages from the extension to the canvas. All are plain data. */
export type ToCanvas =
  | GraphMessage
  /** The caret in the source, in UTF-16 units from the start of the text: the node or connection there is highlighted. */
  | { readonly type: 'cursor'; readonly file: string; readonly offset: number }
  | EditMessage
  /** The outcome of an answer: why it was not accepted, or undefined if the run continues. */
  | { readonly type: 'answerResult'; readonly run: string; readonly refusal: string | undefined }
  /** The runs of the file's flows, newest first. Sent at first and whenever one starts, changes or ends. */
  | { readonly type: 'runs'; readonly runs: readonly RunInfo[] }
  /** Shows a run on the canvas from its start; its events follow. */
  | { readonly type: 'run'; readonly run: RunInfo }
  /** More events of the shown run, in order; collected for about 50 ms. */
  | { readonly type: 'runEvents'; readonly run: string; readonly events: readonly TraceEvent[] }
  | SharedMessage
  | VisitInputMessage
  | VisitRunsMessage
  | ComparisonMessage
  | VersionsMessage
  /** Shows and focuses a node, after commands such as "Open Canvas" on a line of the source. */
  | { readonly type: 'focus'; readonly flow: string; readonly node: string | undefined };

/** Top left corners of nodes that were moved by hand, by node id, in pixels of the flow's own drawing. */
export type MovedNodes = Readonly<Record<string, Point>>;

/** The graph of the current source. Sent first, and after each change of the text. */
export interface GraphMessage {
  readonly type: 'graph';
  /** The URI of the document, by which a reloaded window finds it. */
  readonly document?: string | undefined;
  /** The document's version, which edits must repeat. */
  readonly version: number;
  readonly file: FlowFile;
  /** Positions of moved nodes, by flow; absent if unchanged. */
  readonly moved?: Readonly<Record<string, MovedNodes>> | undefined;
  /** Whether running is allowed: an untrusted workspace has reading and the canvas, but no runs. */
  readonly isTrusted: boolean;
  /** Whether it is a trace of another program, which can be neither run nor edited. */
  readonly isTrace?: boolean;
}

export interface EditMessage {
  readonly type: 'editResult';
  readonly id: number;
  /** Why the edit was refused; undefined if it was made. */
  readonly refusal: string | undefined;
}

export interface RunInfo {
  readonly id: string;
  /** The id of the FlowGraph that was run. */
  readonly flow: string;
  readonly state: 'running' | 'done' | 'failed' | 'stopped' | 'waiting' | 'answered';
  /** Whether it runs in another window or program, so that it cannot be stopped here. */
  readonly isElsewhere?: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly durationMs: number | undefined;
  /** For a job, the service's name and the job's id; undefined for a run on this machine. */
  readonly remote: string | undefined;
  /** Why it failed, in one sentence; while it runs, why its state is no longer known. */
  readonly message: string | undefined;
  /** The run that it replayed. */
  readonly replayOf?: string | undefined;
  /** What it waits for, until that is answered. */
  readonly pause?: RunPause | undefined;
  /** Whether it was recorded, so that it can be pinned as a test or run again from a step. */
  readonly isRecorded: boolean;
}

/**
 * The changes of a step to `shared`, and the whole state afterwards. Steps are the visits of nodes that are not flows, in the
 * order in which they end, from 0.
 */
export interface SharedMessage {
  readonly type: 'shared';
  readonly run: string;
  readonly step: number;
  readonly changes: readonly ShownChange[];
  /** JSON, truncated; undefined if it was not recorded. */
  readonly state: string | undefined;
}

/** The shared state before a visit. */
export interface VisitInputMessage {
  readonly type: 'visitInput';
  readonly run: string;
  readonly path: string;
  readonly visit: number;
  /** JSON; undefined if it cannot be edited. */
  readonly state: string | undefined;
  readonly refusal: string | undefined;
}

/** A visit as it was recorded, and as it ran again. */
export interface VisitRunsMessage {
  readonly type: 'visitRuns';
  readonly run: string;
  readonly path: string;
  readonly visit: number;
  readonly runs: VisitRuns | undefined;
  readonly refusal: string | undefined;
}

/** Two versions of the file in one drawing; the flow with this id is shown. */
export interface VersionsMessage extends ComparedFlows {
  readonly type: 'versions';
  readonly flow: string;
  /** The names of the two versions. */
  readonly before: string;
  readonly after: string;
}

/** How two runs differ. */
export interface ComparisonMessage {
  readonly type: 'comparison';
  readonly run: string;
  readonly other: string;
  /** The first step that differs; undefined if the runs are the same. */
  readonly divergence: { readonly step: number; readonly reason: string } | undefined;
  /** The nodes and connections that they used differently. */
  readonly changes: readonly RunChange[];
}
