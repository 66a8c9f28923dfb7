import type { Agent } from 'node:http';
import type { RequestOptions, TransferOptions } from './http/requestLimits.ts';
import type { RetryAfterPolicy } from './http/retryAfterPolicy.ts';
import type { SlowResponseWatch } from './http/slowResponse.ts';

export interface UploadOptions extends TransferOptions {
  /**
   * A unique text such as a UUID, sent as `Idempotency-Key`. A service that supports such keys creates one job for all requests
   * with the same key, and `getSubmission` returns their outcome.
   */
  readonly idempotencyKey?: string;
  /** What the file is: the archive by default, or the names of its contents, for services with the feature `content`. */
  readonly part?: 'tarball' | 'contents';
  /** Bytes of the archive that the service already has, from `getSubmission`. Only the rest is sent. */
  readonly offset?: number;
}

export interface EventOptions extends RequestOptions {
  /** The ID of the last event received; a service that numbers its events continues after it. */
  readonly lastEventId?: string;
}

export interface RemoteClientOptions {
  /** Sends the requests instead of node-fetch. Its sockets cannot be observed, so its `connect` timeout is added to `read`. */
  readonly fetch?: typeof fetch;
  /** Makes the connections of all requests, in place of our own, for a service that is not reached over TCP. Destroyed by `close`. */
  readonly agent?: Agent;
  /** Sent with each request. `Authorization` is always set by the client. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How to wait when the service asks to retry later (429). If absent, the `RemoteError` is thrown immediately. */
  readonly retryAfter?: RetryAfterPolicy;
  /** Is notified of requests without a body that the service keeps waiting. An upload has its own progress. */
  readonly slowResponse?: SlowResponseWatch;
}
