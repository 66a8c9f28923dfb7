import type { Agent } from 'node:http';
import { Readable } from 'node:stream';
import { Headers } from 'node-fetch';
import type * as z from 'zod';
import { Redactor } from '../core/redact.ts';
import { Bearer, type KeySource } from './http/bearer.ts';
import { checkedHost } from './http/checkedHost.ts';
import { checkedResponse, readBytes, readJson } from './http/responses.ts';
import { type DownloadOptions, saveBody } from './transfers/saveBody.ts';
import { disposableStream, type JobEventStream, streamEvents } from './events/eventStream.ts';
import { followEvents, type FollowOptions } from './events/followEvents.ts';
import type { HttpResponse, Call } from './http/exchange.ts';
import { eventIdHeader, isEventId } from './protocol/eventId.ts';
import { type RetryAfterPolicy, withRetryAfter } from './http/retryAfterPolicy.ts';
import type { JobSubmission } from './protocol/jobTerms.ts';
import { asSent } from './protocol/received.ts';
import {
  type Account,
  type Job,
  type JobCreated,
  receivedJobList,
  receivedSubmissionStatus,
  sentJobCreated,
  type SubmissionStatus,
} from './protocol/schemas.ts';
import { environmentList, type KeptEnvironment } from './protocol/environment.ts';
import { secretChange, secretList, secretPath, type StoredSecret } from './protocol/secret.ts';
import { isMissingRoute, metaOf, submissionHeaders } from './transfers/submission.ts';
import { type SlowResponseWatch, Transport } from './http/transport.ts';
import { openUpload } from './transfers/openUpload.ts';
import { limits, type RequestOptions, type TransferOptions } from './http/requestLimits.ts';
import { AppError } from '../core/errors.ts';
import type { JobTunnelClient } from './tunnel/jobTunnelClient.ts';

export type { RequestOptions, TransferOptions } from './http/requestLimits.ts';
export type { DownloadOptions } from './transfers/saveBody.ts';

/** Default read timeouts in seconds (specification, section 8). */
const REQUEST_TIMEOUT = 60;
const STREAM_TIMEOUT = 180;

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

/**
 * A thin client for one service and one account (specification, section 4.2).
 *
 * Every call may throw a `RemoteError` (or `AuthError`, `InsufficientCreditsError`) if the service refuses, a `NetworkError` on a
 * timeout, the signal's reason on abort, and the system's own error (`code` is `ECONNREFUSED`, `DEPTH_ZERO_SELF_SIGNED_CERT`, ...)
 * if the connection fails. None of them contains the key.
 */
export class RemoteClient implements AsyncDisposable {
  /** The base address, without a trailing slash. */
  readonly host: string;
  readonly #transport: Transport;
  readonly #bearer: Bearer;
  readonly #hasCustomFetch: boolean;
  readonly #redactor = new Redactor();
  readonly #retryAfter: RetryAfterPolicy | undefined;
  readonly #closed = new AbortController();

  /**
   * @param apiKey a key, or what supplies one for each request.
   * @throws AppError `bad-input` for a host that is not an http(s) URL, or a key that is not valid in a header.
   */
  constructor(host: string, apiKey: string | KeySource, options: RemoteClientOptions = {}) {
    this.host = checkedHost(host);
    this.#bearer = new Bearer(apiKey, this.#redactor);
    // Node's own would load undici, and take as much time as its start.
    const headers = new Headers(options.headers);
    if (!headers.has('user-agent')) headers.set('user-agent', 'farwharf');
    this.#retryAfter = options.retryAfter;
    this.#hasCustomFetch = options.fetch !== undefined;
    this.#transport = new Transport(this.host, Object.fromEntries(headers), options);
  }

  /** The account's credits, plan and rate card. */
  async me(options?: RequestOptions): Promise<Account> {
    return this.#json('GET', '/v1/me', options, asSent<Account>());
  }

  /**
   * Uploads a workspace archive (.tar.gz) and starts a job on it. Streams from disk in constant memory.
   *
   * @throws AppError `conflict` if the file changes during the upload. After a connection error or a NetworkError, the job may or may not
   * exist, so the request is never repeated; if the service supports keys, `getSubmission` returns the outcome. A request that was
   * answered with 429 created no job.
   */
  async submitJob(workspaceTar: string, submission: JobSubmission, options?: UploadOptions): Promise<JobCreated> {
    const call = { method: 'POST', path: '/v1/jobs', ...limits(options, STREAM_TIMEOUT) } as const;
    return this.#send(call.signal, async (authorization) => {
      const upload = await openUpload(workspaceTar, metaOf(submission), {
        headers: submissionHeaders(options),
        part: options?.part ?? 'tarball',
        offset: options?.offset ?? 0,
        onProgress: options?.onProgress?.bind(options),
        isReusing: !this.#hasCustomFetch, // another fetch may keep references to chunks that it has read
      });
      try {
        using response = await this.#openOnce(jsonCall({ ...call, ...upload }), authorization);
        return await readJson(response, sentJobCreated);
      } finally {
        upload.body.destroy();
      }
    });
  }

  /** The outcome of a submission by its key; undefined if the service does not support keys. Changes nothing. */
  async getSubmission(idempotencyKey: string, options?: RequestOptions): Promise<SubmissionStatus | undefined> {
    const path = `/v1/submissions/${encodeURIComponent(idempotencyKey)}`;
    try {
      return await this.#json('GET', path, options, receivedSubmissionStatus);
    } catch (error) {
      if (isMissingRoute(error)) return undefined;
      throw error;
    }
  }

  /** Asks about contents or sends some, for services with the feature `content`: see `protocol/contents.ts`. Returns the response's bytes. */
  async postContents(path: string, body: Uint8Array, options?: RequestOptions): Promise<Buffer> {
    const call = { method: 'POST', path: `/v1/contents/${path}`, ...limits(options, STREAM_TIMEOUT) } as const;
    return this.#send(call.signal, async (authorization) => {
      using response = await this.#openOnce({ ...call, ...bytesBody(body) }, authorization);
      return await readBytes(response);
    });
  }

  /**
   * The pieces of a job's results, for services with the feature `result-content`: a record for each, see `protocol/contents.ts`.
   *
   * @param wanted a bit for each record that is wanted; all by default.
   */
  async *streamResultContents(
    jobId: string,
    wanted?: Uint8Array,
    options?: RequestOptions,
  ): AsyncGenerator<Uint8Array, void> {
    const call = {
      path: `${jobPath(jobId)}/artifacts/contents`,
      isOpenEnded: true,
      ...limits(options, STREAM_TIMEOUT),
    };
    using response = await this.#send(call.signal, (authorization) =>
      this.#openOnce(
        wanted === undefined ? { ...call, method: 'GET' } : { ...call, method: 'POST', ...bytesBody(wanted) },
        authorization,
      ),
    );
    yield* response.body;
  }

  /** The names of the account's secrets, and when each was set. No request returns a value. For services with the feature `secrets`. */
  async listSecrets(options?: RequestOptions): Promise<readonly StoredSecret[]> {
    return (await this.#json('GET', '/v1/secrets', options, secretList)).secrets;
  }

  /**
   * Sets a secret of the account. The value is in no error, whatever the service responds.
   *
   * @param options.redactResults whether the service removes the value from text files among results; by default as before. For services with
   * the feature `redacted-results`.
   */
  async setSecret(
    name: string,
    value: string,
    options: RequestOptions & { readonly redactResults?: boolean } = {},
  ): Promise<void> {
    const { redactResults, ...request } = options;
    this.#redactor.add(value);
    const body = redactResults === undefined ? { value } : { value, redact_results: redactResults };
    await this.#json('PUT', secretPath(name), request, secretChange, body);
  }

  /** Removes a secret of the account. */
  async removeSecret(name: string, options?: RequestOptions): Promise<void> {
    await this.#json('DELETE', secretPath(name), options, secretChange);
  }

  /** What jobs of the account built for later ones. For services with the feature `environments`. */
  async listEnvironments(options?: RequestOptions): Promise<readonly KeptEnvironment[]> {
    return (await this.#json('GET', '/v1/environments', options, environmentList)).environments;
  }

  /**
   * The jobs of the account, newest first, wherever they were submitted. The specification has no such request, so a service may
   * answer 404.
   *
   * @param page.before the ID of the last job of an earlier answer, for those after it.
   */
  async listJobs(
    page: { readonly limit: number; readonly before?: string },
    options?: RequestOptions,
  ): Promise<readonly Job[]> {
    const query = new URLSearchParams({ limit: String(page.limit), ...(page.before && { before: page.before }) });
    return (await this.#json('GET', `/v1/jobs?${query.toString()}`, options, receivedJobList)).jobs;
  }

  async getJob(jobId: string, options?: RequestOptions): Promise<Job> {
    return this.#json('GET', jobPath(jobId), options, asSent<Job>());
  }

  async cancel(jobId: string, options?: RequestOptions): Promise<Record<string, unknown>> {
    return this.#json('DELETE', jobPath(jobId), options, asSent<Record<string, unknown>>());
  }

  /** The job's events, live. The request is sent when the first event is read. The stream can be read once. */
  streamEvents(jobId: string, options?: EventOptions): JobEventStream {
    const headers: Record<string, string> = { accept: 'text/event-stream', 'accept-encoding': 'identity' };
    const { lastEventId = '' } = options ?? {};
    if (lastEventId !== '' && isEventId(lastEventId)) headers['last-event-id'] = eventIdHeader(lastEventId);
    const call = {
      method: 'GET',
      path: `${jobPath(jobId)}/events`,
      headers,
      isOpenEnded: true,
      ...limits(options, STREAM_TIMEOUT),
    } as const;
    return streamEvents((left) =>
      this.#open({ ...call, signal: call.signal === undefined ? left : AbortSignal.any([call.signal, left]) }),
    );
  }

  /**
   * The job's events over any number of connections, each once, until the job's `end` event or the end of the stream of a job that is over.
   * Reconnects when the connection is lost, from the last event where the service numbers them.
   *
   * The stream throws what the service refuses, and the last failure once the service has not responded for `maxOutage` seconds.
   */
  followEvents(jobId: string, options: FollowOptions = {}): JobEventStream {
    jobPath(jobId); // an invalid ID is reported at once
    const { signal } = options;
    return disposableStream((left) =>
      followEvents(this, jobId, {
        ...options,
        signal: AbortSignal.any([left, this.#closed.signal, ...(signal === undefined ? [] : [signal])]),
      }),
    );
  }

  /**
   * Connects to a running job, for services with the feature `connect`. The tunnel is the caller's to dispose.
   *
   * @param options.timeout `read` limits the wait for the service's response, and not the tunnel. `signal` ends both.
   */
  async connectJob(jobId: string, options?: RequestOptions): Promise<JobTunnelClient> {
    const path = `${jobPath(jobId)}/connect`;
    const { readMs, signal } = limits(options, REQUEST_TIMEOUT);
    const [{ JobTunnelClient: Tunnel }, { openTunnelConnection, openTunnelSocket }] = await Promise.all([
      import('./tunnel/jobTunnelClient.ts'),
      import('./tunnel/tunnelConnection.ts'),
    ]);
    const ends = AbortSignal.any([this.#closed.signal, ...(signal === undefined ? [] : [signal])]);
    const open = (until: AbortSignal) =>
      this.#send(until, (authorization) => {
        const { url, agent, headers } = this.#transport.connection(path);
        const call = { agent, headers: { ...headers, authorization }, timeoutMs: readMs, signal: until };
        return openTunnelSocket(url, call, (response) => checkedResponse(response, this.#redactor));
      });
    const { host } = this.#transport.connection(path).url;
    return new Tunnel(await openTunnelConnection(open, { host, signal: ends }));
  }

  /** Lets a frozen job wait for a debugger longer, for services with the feature `debug`. @returns the job. */
  async extendFreeze(jobId: string, seconds: number, options?: RequestOptions): Promise<Job> {
    return this.#json('POST', `${jobPath(jobId)}/freeze`, options, asSent<Job>(), { seconds });
  }

  /** Lets a frozen job continue: it ends as it would have without a debugger. @returns the job. */
  async endFreeze(jobId: string, options?: RequestOptions): Promise<Job> {
    return this.#json('DELETE', `${jobPath(jobId)}/freeze`, options, asSent<Job>());
  }

  /** Saves the job's artifacts (.tar.gz) as the file `dest`, completely or not at all, and returns `dest`. */
  async downloadArtifacts(jobId: string, dest: string, options?: DownloadOptions): Promise<string> {
    using response = await this.#open({
      method: 'GET',
      path: `${jobPath(jobId)}/artifacts`,
      headers: { 'accept-encoding': 'identity' },
      decompress: false,
      isOpenEnded: true,
      ...limits(options, STREAM_TIMEOUT),
    });
    await saveBody(response, dest, options);
    return dest;
  }

  /** Aborts running requests and closes idle connections. Later calls throw AppError `bad-input`. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #json<T>(
    method: Call['method'],
    path: string,
    options: RequestOptions | undefined,
    schema: z.ZodType<T>,
    body?: object,
  ): Promise<T> {
    const call = { method, path, ...limits(options, REQUEST_TIMEOUT) };
    using response = await this.#send(call.signal, (authorization) =>
      this.#openOnce(jsonCall(body === undefined ? call : { ...call, ...jsonBody(body) }), authorization),
    );
    return await readJson(response, schema);
  }

  #open(call: Call): Promise<HttpResponse> {
    return this.#send(call.signal, (authorization) => this.#openOnce(call, authorization));
  }

  #send<T>(signal: AbortSignal | undefined, send: (authorization: string) => Promise<T>): Promise<T> {
    return withRetryAfter(this.#retryAfter, { signal, closed: this.#closed.signal }, () => this.#bearer.send(send));
  }

  async #openOnce(call: Call, authorization: string): Promise<HttpResponse> {
    const response = await this.#transport.open({ ...call, headers: { ...call.headers, authorization } });
    try {
      return await checkedResponse(response, this.#redactor);
    } catch (error) {
      response[Symbol.dispose]();
      call.signal?.throwIfAborted();
      throw error;
    }
  }
}

/** A call whose response is JSON. */
function jsonCall(call: Call): Call {
  return { ...call, headers: { accept: 'application/json', ...call.headers } };
}

/** The part of a call that sends a value as JSON. A stream can be sent once, so a repeated call needs another one. */
function jsonBody(value: object): Pick<Call, 'headers' | 'body'> {
  return bytesBody(Buffer.from(JSON.stringify(value)), 'application/json');
}

/** The same for bytes. */
function bytesBody(bytes: Uint8Array, type = 'application/octet-stream'): Pick<Call, 'headers' | 'body'> {
  const headers = { 'content-type': type, 'content-length': String(bytes.length) };
  return { headers, body: Readable.from([bytes]) };
}

/** The path of a job. @throws AppError `bad-input` for an ID that is not one path segment. */
function jobPath(jobId: string): string {
  if (typeof jobId !== 'string' || ['', '.', '..'].includes(jobId) || jobId.length > 256 || !jobId.isWellFormed()) {
    const idText = typeof jobId === 'string' ? JSON.stringify(jobId.slice(0, 64)) : String(jobId);
    throw new AppError('bad-input', `${idText} is not a valid job ID.`);
  }
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}
