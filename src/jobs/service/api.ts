import type { RemoteClient } from '../../remote/client.ts';
import type { ServerSentEvent } from '../../remote/protocol/schemas.ts';

/** The part of the client that the jobs layer uses, so that a wrapper can replace it. */
export interface JobService
  extends Pick<RemoteClient, 'submitJob' | 'getSubmission' | 'getJob' | 'me' | 'downloadArtifacts'> {
  /** Like the client's, but closed only by leaving the loop. */
  streamEvents(...args: Parameters<RemoteClient['streamEvents']>): AsyncIterable<ServerSentEvent>;
}
