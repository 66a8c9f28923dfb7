import type { RemoteClient } from '../../remote/client.ts';
import type { ServerSentEvent } from '../../remote/protocol/schemas.ts';

/** The part of the client that the jobs layer uses, so that a wrapper can replace it. */
export interface JobService
  extends Pick<RemoteClient, 'submitJob' | 'getSubmission' | 'getJob' | 'me' | 'downloadArtifacts'> {
  /** Like the client's, but closed only by leaving the loop. */
  streamEvents(...args: Parameters<RemoteClient['streamEvents']>): AsyncIterable<ServerSentEvent>;
}

/** The HTTP status of a failed call; undefined if there was no response. */
export function httpStatus(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}
