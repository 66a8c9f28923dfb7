import type { RemoteClient } from '../../remote/client.ts';
import type { JobEvent } from '../../remote/protocol/schemas.ts';

/** What the jobs layer needs of the client, so that a proxy can stand in. */
export interface JobService extends Pick<RemoteClient, 'submitJob' | 'getSubmission' | 'getJob' | 'downloadArtifacts'> {
  /** As the client's, but leaving the loop is the only way to close it. */
  streamEvents(...args: Parameters<RemoteClient['streamEvents']>): AsyncIterable<JobEvent>;
}

/** The HTTP status that a failed call carries; undefined when there was no answer. */
export function httpStatus(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}
