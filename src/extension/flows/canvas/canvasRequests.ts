import * as z from 'zod';
import type { FromCanvas } from '../../../webview/canvas/state/messages.ts';

// A page runs only its own script, but its messages open files, change the source and start runs, so they are checked like any
// external input.
const name = z.string().max(1_000);
const flow = name;
const run = name;
const position = z.object({ offset: z.int().min(0), line: z.int().min(0), column: z.int().min(0) });
const range = z.object({ file: z.string().max(10_000), start: position, end: position });
const point = z.object({ x: z.number(), y: z.number() });
const count = z.int().min(0);

const operation = z.discriminatedUnion('type', [
  z
    .object({
      type: z.literal('addNode'),
      flow,
      className: name,
      from: z.object({ node: name, action: name }).optional(),
    })
    .transform((added) => ({ ...added, from: added.from })),
  z.object({ type: z.literal('connect'), flow, source: name, target: name.nullable(), action: name }),
  z.object({ type: z.literal('renameAction'), flow, source: name, action: name, newAction: name }),
  z.object({ type: z.literal('deleteEdge'), flow, edge: z.string().max(3_000) }),
  z.object({ type: z.literal('deleteNode'), flow, node: name }),
  z.object({ type: z.literal('setStart'), flow, node: name }),
  z.object({ type: z.literal('extractFlow'), flow, nodes: z.array(name).max(10_000), name }),
]);

const request = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ready', 'undo', 'redo', 'manageTrust']) }),
  z.object({ type: z.literal('reveal'), range, isPreview: z.boolean() }),
  z.object({ type: z.literal('edit'), id: z.number(), version: z.int(), operation }),
  z.object({ type: z.literal('showFlow'), flow }),
  z.object({ type: z.literal('hints'), flow, moved: z.record(name, point) }),
  z.object({ type: z.enum(['run', 'debug', 'submit']), flow }),
  z.object({ type: z.enum(['stop', 'pinTest', 'openRun']), run }),
  z.object({ type: z.literal('rerunFrom'), run, path: z.string().max(10_000), visit: count }),
  z.object({ type: z.literal('readShared'), run, step: count }),
  z.object({ type: z.literal('compare'), run, other: run }),
  z.object({ type: z.literal('export'), format: z.enum(['svg', 'mermaid']), flow, text: z.string().max(64_000_000) }),
  z.object({ type: z.literal('failure'), message: z.string().max(100_000) }),
]);

/** A checked message of a canvas; undefined if it is not valid. */
export function readCanvasRequest(message: unknown): FromCanvas | undefined {
  const result = request.safeParse(message);
  return result.success ? result.data : undefined;
}
