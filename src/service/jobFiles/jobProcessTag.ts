/** The environment variable that marks every process of a job, also those that left its process group. */
export const JOB_ID_VARIABLE = 'FARWHARF_JOB_ID';

/** The mark of a job's processes. */
export function jobProcessTag(jobId: string): string {
  return `${JOB_ID_VARIABLE}=${jobId}`;
}
