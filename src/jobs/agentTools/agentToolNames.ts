/** The tools that agents can call, in the order in which they are used. */
export const AGENT_TOOL_NAMES = [
  'search_folder',
  'preflight_job',
  'submit_job',
  'submit_sweep',
  'list_jobs',
  'get_job',
  'wait_for_job',
  'cancel_job',
  'read_job_log',
  'explain_failure',
  'fetch_results',
  'run_flow',
] as const;

export type AgentToolName = (typeof AGENT_TOOL_NAMES)[number];
