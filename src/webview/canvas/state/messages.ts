import type { TraceEvent } from '../../../agents/run/trace.ts';
import type { FlowOperation } from '../../../flows/graph/flowOperation.ts';
import type { FlowFile, SourceRange } from '../../../flows/graph/graph.ts';
import type { ShownChange } from '../../../flows/run/protocol/shownState.ts';
import type { Point } from '../../../flows/layout/shape.ts';

/** Messages from the extension to the canvas. All are plain data. */
export type ToCanvas =
  | GraphMessage
  | CursorMessage
  | EditResult
  | RunsMessage
  | RunMessage
  | RunEventsMessage
  | SharedMessage
  | ComparisonMessage
  | FocusMessage;

/** Messages from the canvas to the extension. */
export type FromCanvas =
  | { readonly type: 'ready' }
  /** Show this range in the editor; `isPreview` leaves the focus on the canvas. */
  | { readonly type: 'reveal'; readonly range: SourceRange; readonly isPreview: boolean }
  | EditRequest
  /** The user has selected another flow of the file. */
  | { readonly type: 'showFlow'; readonly flow: string }
  /** Store these positions of nodes; they replace the flow's earlier ones. */
  | { readonly type: 'hints'; readonly flow: string; readonly moved: MovedNodes }
  | { readonly type: 'run' | 'debug' | 'submit'; readonly flow: string }
  | { readonly type: 'stop'; readonly run: string }
  /** Run again from this step on, with the recorded results of the earlier steps. */
  | { readonly type: 'rerunFrom'; readonly run: string; readonly path: string; readonly visit: number }
  | { readonly type: 'pinTest'; readonly run: string }
  /** Send `run` and its events for the timeline. */
  | { readonly type: 'openRun'; readonly run: string }
  /** Send `shared` for this step. */
  | { readonly type: 'readShared'; readonly run: string; readonly step: number }
  /** Send `comparison` for these two. */
  | { readonly type: 'compare'; readonly run: string; readonly other: string }
  | { readonly type: 'export'; readonly format: 'svg' | 'mermaid'; readonly flow: string; readonly text: string }
  /** Undo or redo in the editor of the source. */
  | { readonly type: 'undo' | 'redo' }
  | { readonly type: 'manageTrust' }
  /** An error in the canvas, for the log. */
  | { readonly type: 'failure'; readonly message: string };

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
  /** The flow to show; absent to keep the current one. */
  readonly flow?: string | undefined;
  /** Positions of moved nodes, by flow; absent if unchanged. */
  readonly moved?: Readonly<Record<string, MovedNodes>> | undefined;
  /** Whether running is allowed: an untrusted workspace has reading and the canvas, but no runs. */
  readonly isTrusted: boolean;
}

/** The caret in the source: the node or connection there is highlighted. */
interface CursorMessage {
  readonly type: 'cursor';
  readonly file: string;
  /** UTF-16 units from the start of the text. */
  readonly offset: number;
}

/** Requests one edit of the source. The reply is an EditResult with its `id`, and the new graph. */
interface EditRequest {
  readonly type: 'edit';
  readonly id: number;
  /** The document version on the canvas; an edit of another version is refused. */
  readonly version: number;
  readonly operation: FlowOperation;
}

export interface EditResult {
  readonly type: 'editResult';
  readonly id: number;
  /** Why the edit was refused; undefined if it was made. */
  readonly refusal: string | undefined;
}

type RunState = 'running' | 'done' | 'failed' | 'stopped';

export interface RunInfo {
  readonly id: string;
  /** The id of the FlowGraph that was run. */
  readonly flow: string;
  readonly state: RunState;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Undefined while it runs. */
  readonly durationMs: number | undefined;
  /** For a job, the service's name and the job's id; undefined for a run on this machine. */
  readonly remote: string | undefined;
  /** Why it failed, in one sentence. */
  readonly message: string | undefined;
  /** Whether it was recorded, so that it can be pinned as a test or run again from a step. */
  readonly isRecorded: boolean;
}

/** The runs of the file's flows, newest first. Sent at first and whenever one starts, changes or ends. */
interface RunsMessage {
  readonly type: 'runs';
  readonly runs: readonly RunInfo[];
}

/** Shows a run on the canvas from its start; its events follow. */
interface RunMessage {
  readonly type: 'run';
  readonly run: RunInfo;
}

/** More events of the shown run, in order; collected for about 50 ms. */
interface RunEventsMessage {
  readonly type: 'runEvents';
  readonly run: string;
  readonly events: readonly TraceEvent[];
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

/** Where two runs first differ. */
export interface ComparisonMessage {
  readonly type: 'comparison';
  readonly run: string;
  readonly other: string;
  /** The first step that differs; undefined if the runs are the same. */
  readonly divergence: { readonly step: number; readonly reason: string } | undefined;
}

/** Shows and focuses a node, after commands such as "Open Canvas" on a line of the source. */
interface FocusMessage {
  readonly type: 'focus';
  readonly flow: string;
  readonly node: string | undefined;
}
