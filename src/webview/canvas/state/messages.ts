import type { TraceEvent } from '../../../agents/run/trace.ts';
import type { FlowOperation } from '../../../flows/graph/flowOperation.ts';
import type { FlowFile, SourceRange } from '../../../flows/graph/graph.ts';
import type { Point } from '../../../flows/layout/shape.ts';

/** What the extension tells the canvas. All of it is plain data. */
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

/** What the canvas asks of the extension. */
export type FromCanvas =
  | { readonly type: 'ready' }
  /** Show this place in the editor; `isPreview` leaves the focus on the canvas. */
  | { readonly type: 'reveal'; readonly range: SourceRange; readonly isPreview: boolean }
  | EditRequest
  /** A person has shown another flow of the file. */
  | { readonly type: 'showFlow'; readonly flow: string }
  /** Keep these places of nodes; they replace the flow's earlier ones. */
  | { readonly type: 'hints'; readonly flow: string; readonly moved: MovedNodes }
  | { readonly type: 'run' | 'debug' | 'submit'; readonly flow: string }
  | { readonly type: 'stop'; readonly run: string }
  /** Run again from this step on, with what is recorded of the steps before it. */
  | { readonly type: 'rerunFrom'; readonly run: string; readonly path: string; readonly visit: number }
  | { readonly type: 'pinTest'; readonly run: string }
  /** Send `run` and its events for the timeline. */
  | { readonly type: 'openRun'; readonly run: string }
  /** Send `shared` for this step. */
  | { readonly type: 'readShared'; readonly run: string; readonly step: number }
  /** Send `comparison` for these two. */
  | { readonly type: 'compare'; readonly run: string; readonly other: string }
  | { readonly type: 'export'; readonly format: 'svg' | 'mermaid'; readonly flow: string; readonly text: string }
  /** One step of the editor's own history of the source. */
  | { readonly type: 'undo' | 'redo' }
  | { readonly type: 'manageTrust' }
  /** Something in the canvas went wrong, for the log. */
  | { readonly type: 'failure'; readonly message: string };

/** Top left corners of nodes that people have moved, by node id, in pixels of the flow's own drawing. */
export type MovedNodes = Readonly<Record<string, Point>>;

/** The source as it stands now. Sent at first, and after each change of the text. */
export interface GraphMessage {
  readonly type: 'graph';
  /** The address of the document, by which a window that is loaded again finds it. */
  readonly document?: string | undefined;
  /** The document's version, which edits name again. */
  readonly version: number;
  readonly file: FlowFile;
  /** The flow to show; absent to stay with the one that is shown. */
  readonly flow?: string | undefined;
  /** Where people have put nodes, by flow; absent when nothing of that changed. */
  readonly moved?: Readonly<Record<string, MovedNodes>> | undefined;
  /** Whether running is allowed: in an untrusted workspace reading and the canvas work, running does not. */
  readonly isTrusted: boolean;
}

/** The caret in the source: the node or connection there is highlighted. */
interface CursorMessage {
  readonly type: 'cursor';
  readonly file: string;
  /** UTF-16 units from the start of the text. */
  readonly offset: number;
}

/** Asks for one edit of the source. It is answered by an EditResult with its `id`, and by the new graph. */
interface EditRequest {
  readonly type: 'edit';
  readonly id: number;
  /** The version of the document that the canvas showed; an edit of another one is refused. */
  readonly version: number;
  readonly operation: FlowOperation;
}

export interface EditResult {
  readonly type: 'editResult';
  readonly id: number;
  /** A sentence for people; undefined when the edit was made. */
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
  /** Where it runs when that is not here: the service's name and the job's id. */
  readonly remote: string | undefined;
  /** Why it failed, in one sentence. */
  readonly message: string | undefined;
  /** Whether it was recorded, so that it can be pinned as a test and run again from a step. */
  readonly isRecorded: boolean;
}

/** The runs of the file's flows, newest first. Sent at first and whenever one starts, changes or ends. */
interface RunsMessage {
  readonly type: 'runs';
  readonly runs: readonly RunInfo[];
}

/** Shows a run on the canvas from its beginning; its events follow. */
interface RunMessage {
  readonly type: 'run';
  readonly run: RunInfo;
}

/** More events of a run that is shown, in their order. They are best gathered for about 50 ms. */
interface RunEventsMessage {
  readonly type: 'runEvents';
  readonly run: string;
  readonly events: readonly TraceEvent[];
}

/** One difference of the shared state over a step. Values are JSON or a short description, already cut to a readable size. */
export interface SharedChange {
  /** Keys from the top. */
  readonly path: readonly string[];
  /** Undefined if the key did not exist. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * The changes of a step to `shared`, and the whole state afterwards. Steps are the visits of nodes that are not flows, in the
 * order in which they end, from 0.
 */
export interface SharedMessage {
  readonly type: 'shared';
  readonly run: string;
  readonly step: number;
  readonly changes: readonly SharedChange[];
  /** JSON, cut to a readable size; undefined when it was not recorded. */
  readonly state: string | undefined;
}

/** Where two runs first differ. */
export interface ComparisonMessage {
  readonly type: 'comparison';
  readonly run: string;
  readonly other: string;
  /** The number of the first step that differs; undefined when the one did all that the other did. */
  readonly divergence: { readonly step: number; readonly reason: string } | undefined;
}

/** Shows a node and gives it the keyboard, after commands such as "Open Canvas" on a line of the source. */
interface FocusMessage {
  readonly type: 'focus';
  readonly flow: string;
  readonly node: string | undefined;
}
