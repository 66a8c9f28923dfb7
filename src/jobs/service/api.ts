import { classifyFailure } from '../../core/network/classifyFailure.ts';
import type { RemoteClient } from '../../remote/client.ts';
import type { ServerSentEvent } from '../../remote/protocol/schemas.ts';

/** The part of the client that the jobs layer uses, so that a wrapper can replace it. */
export interface JobService
  extends Pick<RemoteClient, 'submitJob' | 'getSubmission' | 'getJob' | 'me' | 'downloadArtifacts'> {
  /** Like the client's, but closed only by leaving the loop. */
  streamEvents(...args: Parameters<RemoteClient['streamEvents']>): AsyncIterable<ServerSentEvent>;
}

/** The response of `GET /v1/me`; undefined if the service has no accounts (404). @throws the service's or the system's error. */
export async function fetchAccount<T>(me: () => Promise<T>): Promise<T | undefined> {
  try {
    return await me();
  } catch (error) {
    if (classifyFailure(error) === 'missing') return undefined;
    throw error;
  }
}
