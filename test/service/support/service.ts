import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, silentLogger } from '../../../src/core/log.ts';
import { isFinalState } from '../../../src/remote/protocol/states.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from '../../../src/service/serviceConfig.ts';
import type { ProcessSettings } from '../../../src/service/process/processConfig.ts';
import { type RunningService, serve } from '../../../src/service/serve.ts';
import type { ServeOptions } from '../../../src/service/serveOptions.ts';
import { type ArchiveEntry, makeArchive } from './archive.ts';
import { testedIsolation } from './isolation.ts';
import { built } from './built.ts';

export interface JobBody {
  readonly job_id: string;
  readonly state: string;
  readonly exit_code: number | null;
  readonly reason: string | null;
  readonly credit_hold: number;
  readonly credits_charged: number | null;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

export interface WireEvent {
  readonly id: number;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The response of `GET /healthz`. */
export interface HealthBody {
  readonly status: string;
  readonly parts: Readonly<Record<string, { readonly status: string; readonly message: string }>>;
}

/** A folder of its own that goes away with the test, after `release` has ended what still uses it. */
export async function temporaryFolder(
  t: TestContext,
  release: (folder: string) => Promise<void> = async () => {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-service-'));
  t.after(async () => {
    await release(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

/**
 * The configuration of services in tests: the same on every machine, whether it has bubblewrap or not. Jobs do not yield, because the
 * tests themselves keep the processors busy.
 */
export function testConfig(settings: Partial<ProcessSettings> = {}): typeof DEFAULT_CONFIG {
  const process = { ...DEFAULT_CONFIG.process, isolation: testedIsolation(), nice: 0, ...settings };
  return { ...DEFAULT_CONFIG, process };
}

/** A configuration that runs this many jobs at once. */
export function jobsAtOnce(count: number): ServiceConfig {
  return testConfig({ max_jobs: count });
}

/** Starts a service in this process on a port and a folder of its own. */
export async function startService(
  t: TestContext,
  overrides: Partial<ServeOptions> = {},
  log: Logger = silentLogger,
): Promise<ServiceClient> {
  const stop = new AbortController();
  let stopService = async (): Promise<void> => {};
  const data = await temporaryFolder(t, () => stopService());
  const service = await serve(
    {
      host: '127.0.0.1',
      port: 0,
      data,
      config: testConfig(),
      runner: built('jobRunner.mjs'),
      version: '0.0.0',
      killGraceMs: 300,
      ...overrides,
    },
    { log, signal: stop.signal },
  );
  stopService = async () => {
    stop.abort();
    await service.closed;
  };
  return new ServiceClient(service, overrides.data ?? data, stopService);
}

/** Speaks to a service with plain requests, so that tests see the wire and not a library. */
export class ServiceClient {
  readonly url: string;
  readonly key: string;
  readonly routes: RunningService['routes'];
  readonly data: string;
  readonly stop: () => Promise<void>;

  constructor(
    { url, key, routes = [] }: Pick<RunningService, 'url' | 'key'> & Partial<Pick<RunningService, 'routes'>>,
    data: string,
    stop: () => Promise<void> = async () => {},
  ) {
    this.url = url;
    this.key = key;
    this.routes = routes;
    this.data = data;
    this.stop = stop;
  }

  /** The same service, asked by another account's key. */
  withKey(key: string): ServiceClient {
    return new ServiceClient({ url: this.url, key, routes: this.routes }, this.data, this.stop);
  }

  request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.key}`, ...(init.headers as Record<string, string>) };
    return fetch(this.url + path, { ...init, headers });
  }

  async json<T = Record<string, unknown>>(path: string, init?: RequestInit): Promise<T> {
    const response = await this.request(path, init);
    assert.ok(response.ok, `${path}: ${response.status}`);
    return (await response.json()) as T;
  }

  /** Sends files with `meta`; `tarball` first, as the client does. By default the time limit is one that no test waits for. */
  async send(files: Readonly<Record<string, ArchiveEntry>>, meta: Record<string, unknown>): Promise<Response> {
    return this.upload(await makeArchive(files), JSON.stringify({ max_runtime: 600, ...meta }));
  }

  upload(archive: Uint8Array<ArrayBuffer>, meta: string, headers: Record<string, string> = {}): Promise<Response> {
    const form = new FormData();
    form.append('tarball', new Blob([archive], { type: 'application/gzip' }), 'workspace.tar.gz');
    form.append('meta', meta);
    return this.request('/v1/jobs', { method: 'POST', body: form, headers });
  }

  /** Submits files and gives the job's id. */
  async submit(files: Readonly<Record<string, ArchiveEntry>>, meta: Record<string, unknown>): Promise<string> {
    const response = await this.send(files, meta);
    const body = (await response.json()) as { job_id: string; detail?: string };
    assert.equal(response.status, 201, body.detail);
    return body.job_id;
  }

  job(id: string): Promise<JobBody> {
    return this.json<JobBody>(`/v1/jobs/${id}`);
  }

  async untilState(id: string, isReached: (state: string) => boolean): Promise<JobBody> {
    // Slower each time, because a service refuses an account that asks more than ten times a second.
    for (let pauseMs = 20; ; pauseMs = Math.min(1.1 * pauseMs, 500)) {
      const job = await this.job(id);
      if (isReached(job.state)) return job;
      assert.ok(!isFinalState(job.state), `the job is ${job.state}: ${job.reason}`);
      await sleep(pauseMs);
    }
  }

  untilEnd(id: string): Promise<JobBody> {
    return this.untilState(id, isFinalState);
  }

  untilRunning(id: string): Promise<JobBody> {
    return this.untilState(id, (state) => state === 'running');
  }

  /** All events until the stream ends. */
  async events(id: string, headers: Record<string, string> = {}): Promise<WireEvent[]> {
    const response = await this.request(`/v1/jobs/${id}/events`, { headers });
    assert.equal(response.status, 200);
    return parseAll(await response.text());
  }

  /** The text that a job wrote to a stream. */
  async output(id: string, stream = 'stdout'): Promise<string> {
    const logs = (await this.events(id)).filter(({ event, data }) => event === 'log' && data['stream'] === stream);
    return logs.map(({ data }) => String(data['text'])).join('');
  }

  /** Waits, as long as the job lives, until it has written something to a stream. */
  async untilOutput(id: string, pattern: RegExp, stream = 'stdout'): Promise<void> {
    const response = await this.request(`/v1/jobs/${id}/events`);
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const complete = parseAll(text.slice(0, text.lastIndexOf('\n\n') + 2));
      const written = complete.filter(({ event, data }) => event === 'log' && data['stream'] === stream);
      if (pattern.test(written.map(({ data }) => String(data['text'])).join(''))) return;
    }
    assert.fail(`the job ended without ${pattern}: ${text}`);
  }

  async credits(): Promise<number> {
    return (await this.json<{ credits: number }>('/v1/me')).credits;
  }
}

/** Reads a finished event stream as the service writes it: three fields for each event. */
export function parseAll(text: string): WireEvent[] {
  const blocks = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
  return blocks.map((block) => {
    const match = /^id: (\d+)\nevent: (\w+)\ndata: ([^\n]*)$/.exec(block);
    assert.ok(match, `no event: ${block}`);
    const [, id, event = '', data = ''] = match;
    return { id: Number(id), event, data: JSON.parse(data) as Record<string, unknown> };
  });
}
