import { createParser } from 'eventsource-parser';
import { makeArchive } from '../../test/service/support/archive.ts';

const TIMEOUT_MS = 30_000;

export interface JobAnswer {
  readonly job_id: string;
  readonly project: string | null;
  readonly state: string;
  readonly exit_code: number | null;
  readonly finished_at: string | null;
  readonly reason: string | null;
  readonly credits_charged: number | null;
}

export interface SeenEvent {
  readonly id: number;
  readonly type: string;
  readonly data: string;
}

/** An answer of the service that says no, or that it failed. */
export class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`${status}: ${text}`);
    this.status = status;
  }
}

/**
 * Speaks to one service in plain requests. Each throws RefusedError for an answer that is no success, and another error where there was none.
 */
export class LoadClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Submits one script, and gives the job's id. */
  async submit(
    script: string,
    meta: Readonly<Record<string, unknown>>,
    { key, signal }: { key: string; signal: AbortSignal },
  ): Promise<string> {
    const form = new FormData();
    form.append('tarball', new Blob([await makeArchive({ 'job.sh': script })]), 'workspace.tar.gz');
    form.append('meta', JSON.stringify({ script: 'job.sh', ...meta }));
    const headers = { 'idempotency-key': key };
    const response = await this.#request('/v1/jobs', { method: 'POST', body: form, headers, signal });
    return ((await response.json()) as { job_id: string }).job_id;
  }

  async job(id: string, signal: AbortSignal): Promise<JobAnswer> {
    return (await (await this.#request(`/v1/jobs/${id}`, { signal })).json()) as JobAnswer;
  }

  /** Up to 500 jobs, the newest first. */
  async jobs(signal: AbortSignal, before?: string): Promise<readonly JobAnswer[]> {
    const from = before === undefined ? '' : `&before=${before}`;
    const response = await this.#request(`/v1/jobs?limit=500${from}`, { signal });
    return ((await response.json()) as { jobs: JobAnswer[] }).jobs;
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await (await this.#request(`/v1/jobs/${id}`, { method: 'DELETE', signal })).text();
  }

  async results(id: string, signal: AbortSignal): Promise<Uint8Array> {
    return new Uint8Array(await (await this.#request(`/v1/jobs/${id}/artifacts`, { signal })).arrayBuffer());
  }

  /** The events of a job after `after`, until its last one or until the stream breaks. */
  async *events(id: string, after: number, signal: AbortSignal): AsyncGenerator<SeenEvent> {
    const headers = { 'last-event-id': String(after) };
    const response = await this.#request(`/v1/jobs/${id}/events`, { headers, signal });
    if (response.body === null) return;
    let ready: SeenEvent[] = [];
    const parser = createParser({
      onEvent: ({ id: number = '', event: type = '', data }) => ready.push({ id: Number(number), type, data }),
    });
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      parser.feed(text);
      yield* ready;
      ready = [];
    }
  }

  async #request(path: string, { signal, headers, ...init }: RequestInit & { signal: AbortSignal }): Promise<Response> {
    const response = await fetch(this.#url + path, {
      ...init,
      headers: { authorization: `Bearer ${this.#key}`, ...(headers as Record<string, string>) },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (!response.ok) throw new RefusedError(response.status, await response.text());
    return response;
  }
}
