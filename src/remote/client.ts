import type * as z from 'zod';
import { AppError } from '../core/errors.ts';
import { Redactor } from '../core/redact.ts';
import { checkResponse, readJson } from './http/responses.ts';
import { saveBody } from './transfers/download.ts';
import { type JobEventStream, streamEvents } from './events/eventStream.ts';
import type { HttpResponse, Call } from './http/exchange.ts';
import { eventIdHeader, isEventId } from './protocol/eventId.ts';
import { type RetryAfterPolicy, withRetryAfter } from './http/retryAfterPolicy.ts';
import {
  type Account,
  type Job,
  type JobCreated,
  receivedAccount,
  receivedCancellation,
  receivedJob,
  receivedJobCreated,
  receivedSubmissionStatus,
  type SubmissionStatus,
} from './protocol/schemas.ts';
import { isMissingRoute, type JobSubmission, metaOf, submissionHeaders } from './transfers/submission.ts';
import { Transport } from './http/transport.ts';
import { openUpload } from './transfers/upload.ts';
import { jobPath } from './protocol/jobPath.ts';
import { limits, type RequestOptions } from './http/requestLimits.ts';

export type { RequestOptions } from './http/requestLimits.ts';

/** Defaults of the specification's section 8, in seconds. */
const REQUEST_TIMEOUT = 60;
const STREAM_TIMEOUT = 180;

export interface TransferOptions extends RequestOptions {
  /** Called with the bytes of the file moved so far, and their total where it is known. */
  onProgress?(bytes: number, total?: number): void;
}

export interface DownloadOptions extends TransferOptions {
  /** A longer body is refused: by its announced length before anything is written, else when it has come so far. */
  readonly maxBytes?: number;
  /** Called with the first bytes of the body, at least 10 of a body that has as many. What it throws ends the download. */
  onStart?(head: Uint8Array): void;
}

export interface UploadOptions extends TransferOptions {
  /**
   * A text that no other submission has (a UUID), sent as `Idempotency-Key`. A service that knows such keys makes one job of all
   * requests with it, and `getSubmission` tells what became of them.
   */
  readonly idempotencyKey?: string;
  /** Bytes of the archive that the service has already, as `getSubmission` told them: only the rest is sent. */
  readonly offset?: number;
}

export interface EventOptions extends RequestOptions {
  /** The id of the last event that was seen; a service that numbers its events goes on after it. */
  readonly lastEventId?: string;
}

export interface RemoteClientOptions {
  /** Sends the requests instead of node-fetch. Its sockets are out of sight, so `connect` adds to `read` there. */
  readonly fetch?: typeof fetch;
  /** Sent with each request; `Authorization` is always the client's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Waits for a service that asks to come again later (429), instead of throwing its `RemoteError` at once. */
  readonly retryAfter?: RetryAfterPolicy;
}

/**
 * A thin client of one service and one account (specification, section 4.2).
 *
 * Every call may throw a `RemoteError` (or its `AuthError`, `InsufficientCreditsError`) for what the service answers,
 * a `NetworkError` for silence, the signal's reason on abort, and the system's own error (`code` is `ECONNREFUSED`,
 * `DEPTH_ZERO_SELF_SIGNED_CERT`, ...) when there is no connection. The key is in none of them.
 */
export class RemoteClient implements AsyncDisposable {
  /** The base address, without a trailing slash. */
  readonly host: string;
  readonly #transport: Transport;
  readonly #hasCustomFetch: boolean;
  readonly #redactor = new Redactor();
  readonly #retryAfter: RetryAfterPolicy | undefined;
  readonly #closed = new AbortController();

  /** @throws AppError `bad-input` for an address that is not http(s), or a key that no header can carry. */
  constructor(host: string, apiKey: string, options: RemoteClientOptions = {}) {
    this.host = checkedHost(host);
    if (!/^[\x21-\x7e]+$/.test(apiKey)) {
      throw new AppError('bad-input', 'The API key is empty or has characters that no key has. Enter it again.');
    }
    this.#redactor.add(apiKey);
    const headers = new Headers(options.headers);
    if (!headers.has('user-agent')) headers.set('user-agent', 'farwharf');
    headers.set('authorization', `Bearer ${apiKey}`);
    this.#retryAfter = options.retryAfter;
    this.#hasCustomFetch = options.fetch !== undefined;
    this.#transport = new Transport(this.host, Object.fromEntries(headers), options.fetch);
  }

  /** The account's credits, plan and rate card. */
  async me(options?: RequestOptions): Promise<Account> {
    return this.#json({ method: 'GET', path: '/v1/me', ...limits(options, REQUEST_TIMEOUT) }, receivedAccount);
  }

  /**
   * Uploads a workspace archive (.tar.gz) and starts a job on it. Streams from disk in constant memory.
   *
   * @throws AppError `conflict` when the file changes while it is sent. After a connection error or a NetworkError the
   * service may or may not have taken the job: the request is never repeated. One that was put off (429) was not
   * taken. Where the service knows keys, `getSubmission` tells.
   */
  async submitJob(workspaceTar: string, submission: JobSubmission, options?: UploadOptions): Promise<JobCreated> {
    const call = { method: 'POST', path: '/v1/jobs', ...limits(options, STREAM_TIMEOUT) } as const;
    return this.#withRetryAfter(call.signal, async () => {
      const upload = await openUpload(workspaceTar, metaOf(submission), {
        headers: submissionHeaders(options),
        offset: options?.offset ?? 0,
        onProgress: options?.onProgress?.bind(options),
        isReusing: !this.#hasCustomFetch, // nobody knows how long another fetch holds on to what it has read
      });
      try {
        using response = await this.#openOnce(jsonCall({ ...call, ...upload }));
        return await readJson(response, receivedJobCreated);
      } finally {
        upload.body.destroy();
      }
    });
  }

  /** What became of a submission that was sent with this key; undefined where the service knows no keys. Changes nothing. */
  async getSubmission(idempotencyKey: string, options?: RequestOptions): Promise<SubmissionStatus | undefined> {
    const path = `/v1/submissions/${encodeURIComponent(idempotencyKey)}`;
    try {
      return await this.#json({ method: 'GET', path, ...limits(options, REQUEST_TIMEOUT) }, receivedSubmissionStatus);
    } catch (error) {
      if (isMissingRoute(error)) return undefined;
      throw error;
    }
  }

  async getJob(jobId: string, options?: RequestOptions): Promise<Job> {
    return this.#json({ method: 'GET', path: jobPath(jobId), ...limits(options, REQUEST_TIMEOUT) }, receivedJob);
  }

  async cancel(jobId: string, options?: RequestOptions): Promise<Record<string, unknown>> {
    return this.#json(
      { method: 'DELETE', path: jobPath(jobId), ...limits(options, REQUEST_TIMEOUT) },
      receivedCancellation,
    );
  }

  /** The job's events as they happen. The request is sent when the first is asked for; the stream can be read once. */
  streamEvents(jobId: string, options?: EventOptions): JobEventStream {
    const headers: Record<string, string> = { accept: 'text/event-stream', 'accept-encoding': 'identity' };
    if (options?.lastEventId !== undefined && isEventId(options.lastEventId)) {
      headers['last-event-id'] = eventIdHeader(options.lastEventId);
    }
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

  /** Saves the archive of the job's artifacts (.tar.gz) as the file `dest`, whole or not at all, and gives `dest`. */
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

  /** Breaks off what runs and closes idle connections. Later calls throw an AppError `bad-input`. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #json<T>(call: Call, schema: z.ZodType<T>): Promise<T> {
    using response = await this.#open(jsonCall(call));
    return await readJson(response, schema);
  }

  #open(call: Call): Promise<HttpResponse> {
    return this.#withRetryAfter(call.signal, () => this.#openOnce(call));
  }

  #withRetryAfter<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    return withRetryAfter(this.#retryAfter, { signal, closed: this.#closed.signal }, call);
  }

  async #openOnce(call: Call): Promise<HttpResponse> {
    const response = await this.#transport.open(call);
    try {
      await checkResponse(response, this.#redactor);
      return response;
    } catch (error) {
      response[Symbol.dispose]();
      call.signal?.throwIfAborted();
      throw error;
    }
  }
}

function jsonCall(call: Call): Call {
  return { ...call, headers: { accept: 'application/json', ...call.headers } };
}

function checkedHost(host: string): string {
  const url = URL.parse(host);
  // The paths of requests are put behind the text, where an empty query or a space at its end would take them in.
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && !/[?#\\\s]/.test(host);
  // A password in the address would show up wherever the address does, so the address is not repeated here either.
  if (!isUsable || url.username !== '' || url.password !== '') {
    throw new AppError(
      'bad-input',
      'The address of the service must be like https://jobs.example.org, without a name, password or query.',
    );
  }
  return host.replace(/\/+$/, '');
}
