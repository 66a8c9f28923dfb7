const UNFINISHED_STATES = ['queued', 'starting', 'running'] as const;
const FINAL_STATES = ['succeeded', 'failed', 'cancelled', 'timed_out', 'lost'] as const;
export const JOB_STATES = [...UNFINISHED_STATES, ...FINAL_STATES] as const;

export type UnfinishedState = (typeof UNFINISHED_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type JobState = UnfinishedState | FinalState;

/** Whether this is a state of the embedded service. Other services may have others. */
export function isJobState(state: unknown): state is JobState {
  return JOB_STATES.some((known) => known === state);
}

/** Whether a job in this state has ended. An unknown state is not final. */
export function isFinalState(state: string): state is FinalState {
  return FINAL_STATES.some((known) => known === state);
}
