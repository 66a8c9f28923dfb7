import type * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import type { AgentToolName } from '../../jobs/agentTools/agentToolNames.ts';
import { AGENT_TOOL_INPUTS } from '../../jobs/agentTools/agentTools.ts';
import type { Captured } from './captured.ts';
import { preflightJob, runFlow, searchFolder, submitJob } from './folderTools.ts';
import { explainFailure, fetchResults, getJob, readJobLog } from './jobTools.ts';
import type { ToolAnswer } from './toolAnswer.ts';

/** A call whose arguments were checked. `root` is the folder of the tools, without links. */
type CheckedCall = (run: Captured, root: string) => Promise<ToolAnswer>;

/** Checks the arguments of a call. @throws AppError `bad-input` that names what is wrong with them. */
type Tool = (input: unknown) => CheckedCall;

const inputs = AGENT_TOOL_INPUTS;

/** The tools by name. */
export const TOOLS: Readonly<Record<AgentToolName, Tool>> = {
  search_folder: tool(inputs.search_folder, searchFolder),
  preflight_job: tool(inputs.preflight_job, preflightJob),
  submit_job: tool(inputs.submit_job, submitJob),
  get_job: tool(inputs.get_job, getJob),
  read_job_log: tool(inputs.read_job_log, readJobLog),
  explain_failure: tool(inputs.explain_failure, explainFailure),
  fetch_results: tool(inputs.fetch_results, fetchResults),
  run_flow: tool(inputs.run_flow, runFlow),
};

function tool<Input extends z.ZodType>(
  schema: Input,
  work: (run: Captured, root: string, input: z.output<Input>) => Promise<ToolAnswer>,
): Tool {
  return (value) => {
    const { success, data, error } = schema.safeParse(value);
    if (success) return (run, root) => work(run, root, data);
    const problems = error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
    throw new AppError('bad-input', `${problems.join('; ')}.`);
  };
}
