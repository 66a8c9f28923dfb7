import type { RemoteClient } from '../remote/client.ts';

/** What the jobs layer needs of the client, so that a proxy can stand in. */
export type JobService = Pick<
  RemoteClient,
  'submitJob' | 'getSubmission' | 'getJob' | 'streamEvents' | 'downloadArtifacts'
>;

/** The HTTP status that a failed call carries; undefined when there was no answer. */
export function httpStatus(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}
