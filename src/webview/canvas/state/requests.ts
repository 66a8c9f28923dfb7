import * as z from 'zod';
import { flowOperation } from '../../../flows/graph/flowOperation.ts';

// A page runs only its own script, but its messages open files, change the source and start runs, so the extension checks them
// like any external input. The page itself needs only the types.
const name = z.string().max(1_000);
const flow = name;
const run = name;
const position = z.object({ offset: z.int().min(0), line: z.int().min(0), column: z.int().min(0) });
const range = z.object({ file: z.string().max(10_000), start: position, end: position });
const point = z.object({ x: z.number(), y: z.number() });
const count = z.int().min(0);

const request = z.discriminatedUnion('type', [
  /** Undo, redo and save are for the editor of the source. */
  z.object({ type: z.enum(['ready', 'undo', 'redo', 'save', 'manageTrust']) }),
  /** Show this range in the editor; `isPreview` leaves the focus on the canvas. */
  z.object({ type: z.literal('reveal'), range, isPreview: z.boolean() }),
  /**
   * Make one edit of the source. The reply is an EditResult with its `id`, and the new graph. `version` is the document's on the
   * canvas: an edit of another version is refused.
   */
  z.object({ type: z.literal('edit'), id: z.number(), version: z.int(), operation: flowOperation }),
  /** Store these positions of nodes; they replace the flow's earlier ones. */
  z.object({ type: z.literal('hints'), flow, moved: z.record(name, point) }),
  /** `compareVersions` lets the user choose two versions of the file, and sends `versions`. */
  z.object({ type: z.enum(['run', 'debug', 'submit', 'compareVersions']), flow }),
  /** `openRun` requests `run` and its events for the timeline. */
  z.object({ type: z.enum(['stop', 'pinTest', 'openRun']), run }),
  /** Answer a run that waits. The reply is `answerResult`, and the new run. */
  z.object({ type: z.literal('answer'), run, input: z.json() }),
  /** Run again from this step on, with the recorded results of the earlier steps. */
  z.object({ type: z.literal('rerunFrom'), run, path: z.string().max(10_000), visit: count }),
  /** Send `visitInput` for this visit. */
  z.object({ type: z.literal('readInput'), run, path: z.string().max(10_000), visit: count }),
  /** Run this visit again, with another shared state if there is one, and send `visitRuns`. */
  z.object({
    type: z.literal('runVisit'),
    run,
    path: z.string().max(10_000),
    visit: count,
    state: z.string().max(2_000_000).optional(),
  }),
  /** Send `shared` for this step. */
  z.object({ type: z.literal('readShared'), run, step: count }),
  /** Send `comparison` for these two. */
  z.object({ type: z.literal('compare'), run, other: run }),
  z.object({ type: z.literal('export'), format: z.enum(['svg', 'mermaid']), flow, text: z.string().max(64_000_000) }),
  /** An error in the canvas, for the log. */
  z.object({ type: z.literal('failure'), message: z.string().max(100_000) }),
]);

/** Messages from the canvas to the extension. */
export type FromCanvas = z.infer<typeof request>;

/** A checked message of a canvas; undefined if it is not valid. */
export function readCanvasRequest(message: unknown): FromCanvas | undefined {
  return request.safeParse(message).data;
}
