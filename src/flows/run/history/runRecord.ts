import * as z from 'zod';
import { recordedOutcome } from '../protocol/flowOutcome.ts';

/** The shape of StepReach. */
export const stepReachSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** What a run of a flow file is started with. */
export const runInput = {
  /** The export to run; by default the file's own flow. */
  flow: z.string().optional(),
  /** The name of that flow in trace events, if the file runs it itself. */
  flowName: z.string().optional(),
  args: z.array(z.string()).optional(),
  /** The shared state that the run begins with. */
  shared: z.record(z.string(), z.json()).optional(),
};

export const runRecord = z.object({
  version: z.literal(1),
  /** Sorts by time. */
  id: z.string(),
  /** Absolute, on the machine where it ran. */
  file: z.string(),
  /** The working directory of the run. */
  cwd: z.string().optional(),
  /** The name of the flow that was asked for, or else of the one that ran first. */
  name: z.string().optional(),
  /** The names of the other flows that the file ran. */
  others: z.array(z.string()).optional(),
  /** The process that runs it, by `processOwner`; absent for a job. */
  owner: z.string().optional(),
  /** ISO 8601. */
  startedAt: z.string(),
  finishedAt: z.string().optional(),
  ...runInput,
  /** The id of the run whose results were used. */
  replayOf: z.string().optional(),
  /** The run and the node after which this run continued. */
  resumedFrom: z.object({ run: z.string(), path: z.string(), visit: z.number() }).optional(),
  /** What the run that waited was answered; `resumedFrom` names it. */
  answer: z.json().optional(),
  /** The id of the run that continued with the answer to this one. */
  answeredBy: z.string().optional(),
  /** The case of a data set, if an eval ran it. */
  evalCase: z.object({ data: z.string(), line: z.number(), name: z.string() }).optional(),
  /** The id of the job, if it ran as one. */
  job: z.string().optional(),
  /** From `stepReach`, to find the steps whose code has changed since. */
  reach: stepReachSchema.optional(),
  steps: z.number().optional(),
  usage: z
    .object({ calls: z.number(), inputTokens: z.number(), outputTokens: z.number(), cost: z.number() })
    .optional(),
  /** Absent while it runs, and if the program that ran it was terminated. */
  outcome: recordedOutcome.optional(),
});

/** The facts about a run that are known without reading its trace. */
export type RunRecord = z.infer<typeof runRecord>;
