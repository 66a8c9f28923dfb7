/** The environment variable that tags every process of a job, including those that left its process group. */
export const JOB_ID_VARIABLE = 'FARWHARF_JOB_ID';

/** The tag of a job's processes. */
export function jobProcessTag(jobId: string): string {
  return `${JOB_ID_VARIABLE}=${jobId}`;
}
