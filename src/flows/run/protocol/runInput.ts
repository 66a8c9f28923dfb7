import * as z from 'zod';

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
