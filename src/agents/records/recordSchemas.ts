import * as z from 'zod';

/** A reply of a model that called tools, by the hash of the messages that it answers. */
const replyStepSchema = z.object({ type: z.literal('reply'), request: z.string(), reply: z.json() });

/** A call of a tool. One that is `started` in the records of a run that has ended may or may not have had its effect. */
const callStepSchema = z.object({
  type: z.literal('call'),
  name: z.string(),
  /** Stable JSON of what the model wrote. */
  args: z.string(),
  /** How many calls with these arguments the same attempt made before. */
  nth: z.int().min(0),
  /** Handed to the tool; the same whenever the call is repeated. */
  id: z.string(),
  state: z.enum(['started', 'suspended', 'done']),
  output: z.json().optional(),
  error: z.string().optional(),
});

/** What tool loops did in an `exec`. */
const recordedStepSchema = z.discriminatedUnion('type', [replyStepSchema, callStepSchema]);

/** An `exec` in which a call waits for a person, or an item of a batch beside it. */
const execItemSchema = z.object({
  /** In batch nodes. */
  item: z.int().min(0).optional(),
  isDone: z.boolean().optional(),
  /** Of an item that is done; absent if `exec` returned undefined. */
  result: z.json().optional(),
  steps: z.array(recordedStepSchema).optional(),
  /** The call that waits. */
  pending: callStepSchema.pick({ name: true, args: true, nth: true }).optional(),
});

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
  /** The result of `prep`, for a flow or an `exec` in progress. */
  prepRes: z.json().optional(),
  /** For a flow of items or branches: those that have begun, and the number of the one in which the position continues. */
  parts: z.array(partSchema).optional(),
  part: z.int().min(0).optional(),
  /** For a node that waits in its `exec`: what that has done. */
  exec: z.array(execItemSchema).optional(),
});

/** What a run waits for. */
export const pauseSchema = z.object({
  question: z.string(),
  choices: z.array(z.string()).optional(),
  /** The JSON Schema of the answer. */
  input: z.record(z.string(), z.unknown()).optional(),
  /** The call of a tool that the answer approves or refuses. */
  call: z.object({ name: z.string(), input: z.json() }).optional(),
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

const placeSchema = z.object({ path: z.string(), visit: z.int().min(1), item: z.int().min(0).optional() });

/** What a tool loop did in an `exec`, also in one that never ended. */
export const stepEntrySchema = placeSchema.extend({ step: recordedStepSchema });

/** The result of an `exec`. */
export const resultEntrySchema = placeSchema.extend({
  /** Hashes of the input of `exec` and of its source text. */
  input: z.string(),
  code: z.string(),
  /** Absent if `exec` returned undefined. */
  result: z.json().optional(),
});

export const recordingEntrySchema = z.union([stepEntrySchema, resultEntrySchema]);

export type ResultEntry = z.infer<typeof resultEntrySchema>;
export type StepEntry = z.infer<typeof stepEntrySchema>;
export type RecordedStep = z.infer<typeof recordedStepSchema>;
export type CallStep = z.infer<typeof callStepSchema>;
export type ExecItem = z.infer<typeof execItemSchema>;
