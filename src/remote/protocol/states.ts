/** The states that a job passes through, and those that it ends in. */
const UNFINISHED_STATES = ['queued', 'starting', 'running'] as const;
const FINAL_STATES = ['succeeded', 'failed', 'cancelled', 'timed_out', 'lost'] as const;
export const JOB_STATES = [...UNFINISHED_STATES, ...FINAL_STATES] as const;

export type UnfinishedState = (typeof UNFINISHED_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type JobState = UnfinishedState | FinalState;

/** Whether this is one of the states that the embedded service uses; other services may have others. */
export function isJobState(state: unknown): state is JobState {
  return JOB_STATES.some((known) => known === state);
}

/** Whether a job in this state will not change any more. A state that is not known is not final. */
export function isFinalState(state: string): state is FinalState {
  return FINAL_STATES.some((known) => known === state);
}
