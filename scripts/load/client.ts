import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer, json, text } from 'node:stream/consumers';
import { createParser } from 'eventsource-parser';

const TIMEOUT_MS = 30_000;
const BOUNDARY = '----farwharf-load';

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

interface Call {
  readonly signal: AbortSignal;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/**
 * Speaks to one service in plain requests. Each throws RefusedError for an answer that is no success, and another error where there was none.
 */
export class LoadClient {
  readonly url: string;
  readonly #key: string;
  readonly #agent: Agent;

  /** @param agent makes the connections; by default those of the system. */
  constructor(url: string, key: string, agent: Agent = new Agent({ keepAlive: true })) {
    this.url = url;
    this.#key = key;
    this.#agent = agent;
  }

  /** Submits an archive with the script `job.sh`, and returns the job's ID. */
  async submit(
    archive: Uint8Array,
    meta: Readonly<Record<string, unknown>>,
    { key, signal }: { key: string; signal: AbortSignal },
  ): Promise<string> {
    const body = multipart({
      tarball: archive,
      meta: Buffer.from(JSON.stringify({ script: 'job.sh', ...meta })),
    });
    const headers = { 'idempotency-key': key, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const response = await this.#request('/v1/jobs', { method: 'POST', body, headers, signal });
    return ((await json(response)) as { job_id: string }).job_id;
  }

  /** Up to 500 jobs, the newest first. */
  async jobs(signal: AbortSignal, before?: string): Promise<readonly JobAnswer[]> {
    const from = before === undefined ? '' : `&before=${before}`;
    const response = await this.#request(`/v1/jobs?limit=500${from}`, { signal });
    return ((await json(response)) as { jobs: JobAnswer[] }).jobs;
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await text(await this.#request(`/v1/jobs/${id}`, { method: 'DELETE', signal }));
  }

  async results(id: string, signal: AbortSignal): Promise<Uint8Array> {
    return buffer(await this.#request(`/v1/jobs/${id}/artifacts`, { signal }));
  }

  async metrics(signal: AbortSignal): Promise<string> {
    return text(await this.#request('/metrics', { signal }));
  }

  /** The events of a job after `after`, until its last one or until the stream breaks. */
  async *events(id: string, after: number, signal: AbortSignal): AsyncGenerator<SeenEvent> {
    const headers = { 'last-event-id': String(after) };
    const response = await this.#request(`/v1/jobs/${id}/events`, { headers, signal });
    let ready: SeenEvent[] = [];
    const parser = createParser({
      onEvent: ({ id: number = '', event: type = '', data }) => ready.push({ id: Number(number), type, data }),
    });
    for await (const piece of response.setEncoding('utf8') as AsyncIterable<string>) {
      parser.feed(piece);
      yield* ready;
      ready = [];
    }
  }

  // Not `fetch`: a stream of it that is aborted as it ends can throw where it cannot be caught.
  async #request(path: string, { signal, method = 'GET', headers, body }: Call): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const all = { authorization: `Bearer ${this.#key}`, ...headers };
    const sent = request(this.url + path, { method, headers: all, agent: this.#agent, signal: limited }, (received) => {
      // The reader gets the error too; a connection that breaks while nothing reads it would end the process.
      received.on('error', () => {});
      resolve(received);
    });
    // A request can fail more than once, as when its connection breaks after its time was up.
    sent.on('error', reject).end(body);
    const response = await promise;
    const { statusCode = 0 } = response;
    if (statusCode >= 300) throw new RefusedError(statusCode, await text(response));
    return response;
  }
}

function multipart(parts: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const pieces = Object.entries(parts).flatMap(([name, bytes]) => {
    const file = name === 'tarball' ? '; filename="workspace.tar.gz"' : '';
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return [Buffer.from(head), bytes, Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}
