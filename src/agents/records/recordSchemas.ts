import * as z from 'zod';

/** The position at which an item or a branch waits for a person, while others of its flow continue. */
const waitingSchema = z.object({
  path: z.string(),
  visit: z.int().min(1),
  /** Below the flow. */
  get position() {
    return z.array(resumePointSchema).min(1);
  },
  get pause() {
    return pauseSchema;
  },
});

/** An item of a batch, or a branch, that has begun: ended, waiting, or the one in which the position continues. */
const partSchema = z.object({
  state: z.record(z.string(), z.json()),
  waiting: waitingSchema.optional(),
});

const resumePointSchema = z.object({
  /** The label of the node in its flow. */
  node: z.string(),
  visit: z.int().min(1),
  /** The number of visits of each node of this flow so far. */
  visits: z.record(z.string(), z.int().min(1)),
  /** The result of `prep`, for a flow in progress. */
  prepRes: z.json().optional(),
  /** For a flow of items or branches: those that have begun, and the number of the one in which the position continues. */
  parts: z.array(partSchema).optional(),
  part: z.int().min(0).optional(),
});

/** What a run waits for. */
export const pauseSchema = z.object({
  question: z.string(),
  choices: z.array(z.string()).optional(),
  /** The JSON Schema of the answer. */
  input: z.record(z.string(), z.unknown()).optional(),
});

export const checkpointSchema = z.object({
  version: z.literal(1),
  /** The node that had finished, as in trace events. */
  path: z.string(),
  visit: z.int().min(1),
  /** The action that its `post` returned; `default` for none. */
  action: z.string(),
  shared: z.record(z.string(), z.json()),
  /** From the outermost flow to the node that had finished. */
  position: z.array(resumePointSchema).min(1),
  /** What the node waits for, if it returned a pause. */
  pause: pauseSchema.optional(),
});

export type ResumePoint = z.infer<typeof resumePointSchema>;
export type SavedPart = z.infer<typeof partSchema>;
export type WaitingPart = z.infer<typeof waitingSchema>;

/** The parts of a flow in a checkpoint. */
export interface ResumedParts {
  readonly parts: readonly SavedPart[];
  readonly part: number;
}

/** Everything that a run needs to continue after a node: plain JSON. */
export type Checkpoint = z.infer<typeof checkpointSchema>;

export const recordingEntrySchema = z.object({
  path: z.string(),
  visit: z.int().min(1),
  item: z.int().min(0).optional(),
  /** Hashes of the input of `exec` and of its source text. */
  input: z.string(),
  code: z.string(),
  /** Absent if `exec` returned undefined. */
  result: z.json().optional(),
});

export type RecordingEntry = z.infer<typeof recordingEntrySchema>;
