import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findChromium, launchBrowser } from '../../../scripts/vscode/browser.ts';
import { Unavailable } from '../../../scripts/vscode/unavailable.ts';
import type { JobState } from '../../../src/remote/protocol/states.ts';
import { isFinalState } from '../../../src/remote/protocol/states.ts';
import type { StoredJob } from '../../../src/service/store/jobs/jobTable.ts';
import type { Store } from '../../../src/service/store/store.ts';
import type { ServiceClient } from './service.ts';

// Guards against a hang only.
const WAIT_MS = 3 * 60_000;

/** Text that would do something where it is not escaped or cleaned. */
export const HOSTILE = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>&amp;\u001b[31m\u202egnp.exe\u0007${'x'.repeat(400)}`;

export interface FilledJob {
  readonly account: string;
  readonly script?: string;
  readonly project?: string | null;
  readonly state?: JobState;
  readonly reason?: string;
  readonly output?: readonly string[];
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
  readonly charged?: number;
}

/** Adds a job to a store as a service does, without running it. */
export async function fillJob(store: Store, id: string, job: FilledJob): Promise<void> {
  const { account, script = 'train.py', project = null, state = 'succeeded', reason, output = [] } = job;
  const { createdAt = Date.now() - 600_000, charged = 200_000 } = job;
  const workspace = { spec: '{}', archive: null, boot: '' };
  await store.submit(
    { id, account, keyId: null, script, project, machineClass: 'local', maxRuntime: 600, createdAt, hold: 1_000_000 },
    [],
    workspace,
  );
  const stored = store.jobs.get(id) as StoredJob;
  if (state !== 'queued') store.setState(stored, 'running', createdAt + 60_000);
  if (output.length > 0) {
    await store.appendOutput(
      id,
      output.map((text) => ({ type: 'log' as const, data: { stream: 'stdout' as const, text } })),
      1,
    );
  }
  if (!isFinalState(state)) return;
  const finishedAt = createdAt + 180_000;
  store.finish(
    stored,
    { state, finishedAt, exitCode: state === 'failed' ? 1 : 0, reason: reason ?? null, charged },
    [],
  );
}

/** A cookie jar of one: what a browser without scripts does. */
export class PageClient {
  readonly #service: ServiceClient;
  #cookie = '';
  /** The `Set-Cookie` of the last response that had one. */
  setCookie = '';

  constructor(service: ServiceClient) {
    this.#service = service;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#send(path, { headers });
  }

  async post(path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Response> {
    const sent = { origin: this.#service.url, ...headers };
    return this.#send(path, { method: 'POST', body: new URLSearchParams(form), headers: sent });
  }

  async signIn(key: string): Promise<Response> {
    return this.post('/sign-in', { key });
  }

  /** The session's ID, which another client may have stolen. */
  get cookie(): string {
    return this.#cookie;
  }

  set cookie(cookie: string) {
    this.#cookie = cookie;
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = { accept: 'text/html,*/*', cookie: this.#cookie, ...(init.headers as Record<string, string>) };
    const response = await fetch(this.#service.url + path, { ...init, headers, redirect: 'manual' });
    const set = response.headers.get('set-cookie');
    if (set !== null) {
      this.setCookie = set;
      this.#cookie = set.split(';')[0] ?? '';
    }
    return response;
  }
}

/** A browser that notes what its pages complain about. */
export class PageBrowser implements AsyncDisposable {
  readonly #browser: Browser;
  readonly errors: string[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Undefined, and the test skipped with the reason, if there is no Chromium. */
  static async start(t: TestContext): Promise<PageBrowser | undefined> {
    try {
      return new PageBrowser(await launchBrowser(await findChromium(() => {})));
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      t.skip(error.message);
      return undefined;
    }
  }

  async page(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext(options);
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('dialog', (dialog) => {
      this.errors.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('console', (line) => {
      if (line.type() === 'error') this.errors.push(line.text());
    });
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}
