import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The words of a service for the states of a job. */
export interface StateWords {
  readonly running: string;
  readonly done: string;
  readonly failed: string;
  readonly cancelled: string;
}

export const SYNONYMS: StateWords = { running: 'RUNNING', done: 'COMPLETED', failed: 'ERROR', cancelled: 'CANCELED' };

interface Job {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly readers: Set<ServerResponse>;
  state: string;
}

const KEY = 'the-key-of-the-plain-service';

/**
 * A second implementation of `/v1` with what the specification shows and nothing more: no list of jobs, no event IDs, no `end` event, no
 * times, exit codes, prices of jobs or limits. Its words for states, the name of its state field and its rate card are its own. Jobs run
 * for real; the archive of results is the whole folder.
 */
export class PlainService implements AsyncDisposable {
  /** The requests that it does not know. */
  readonly unknownRequests: string[] = [];
  /** The `meta` of each submission. */
  readonly submissions: Readonly<Record<string, unknown>>[] = [];
  readonly #root: string;
  readonly #words: StateWords;
  readonly #jobs = new Map<string, Job>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(root: string, words: StateWords) {
    this.#root = root;
    this.#words = words;
  }

  static async start(words: StateWords): Promise<PlainService> {
    const service = new PlainService(await mkdtemp(join(tmpdir(), 'farwharf-plain-')), words);
    await once(service.#server.listen(0, '127.0.0.1'), 'listening');
    return service;
  }

  /** What makes the command use this service. */
  get env(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo;
    return { FARWHARF_REMOTE_HOST: `http://127.0.0.1:${port}`, FARWHARF_API_KEY: KEY };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#jobs.values()) killGroup(child);
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    if (request.headers.authorization !== `Bearer ${KEY}`) return void response.writeHead(401).end();
    if (method === 'GET' && url === '/v1/me') return json(response, ACCOUNT);
    if (method === 'POST' && url === '/v1/jobs') return this.#submit(request, response);
    const [, id = '', rest] = /^\/v1\/jobs\/(\w+)(\/events|\/artifacts)?$/.exec(url) ?? [];
    const job = this.#jobs.get(id);
    if (job === undefined) {
      if (method !== 'GET' || id === '') this.unknownRequests.push(`${method} ${url}`);
      return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Not here');
    }
    if (method === 'DELETE') return this.#cancel(job, response);
    if (rest === '/events') return follow(job, response);
    if (rest === '/artifacts') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      return void response.end(execFileSync('tar', ['czf', '-', '-C', job.folder, '.']));
    }
    return json(response, { name: id, status: job.state });
  }

  async #submit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const form = await new Response(body, { headers }).formData();
    const [tarball, meta] = [form.get('tarball'), form.get('meta')];
    if (!(tarball instanceof File) || typeof meta !== 'string') return void response.writeHead(422).end();
    const id = randomBytes(6).toString('hex');
    const folder = join(this.#root, id);
    await mkdir(folder);
    const archive = join(this.#root, `${id}.tar.gz`);
    await writeFile(archive, Buffer.from(await tarball.arrayBuffer()));
    execFileSync('tar', ['xzf', archive, '-C', folder]);
    const terms = JSON.parse(meta) as Readonly<Record<string, unknown>>;
    this.submissions.push(terms);
    const child = spawn('sh', String(terms['script']).split(' '), {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a process group, to end what the script starts
    });
    const job: Job = { folder, child, lines: [], readers: new Set(), state: this.#words.running };
    this.#jobs.set(id, job);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        job.lines.push(text);
        for (const reader of job.readers) send(reader, text);
      });
    child.once('close', (code) => {
      if (job.state === this.#words.running) job.state = code === 0 ? this.#words.done : this.#words.failed;
      for (const reader of job.readers) reader.end();
      job.readers.clear();
    });
    json(response, { job_id: id, credit_hold: 2, credits_remaining: 40 });
  }

  #cancel(job: Job, response: ServerResponse): void {
    job.state = this.#words.cancelled;
    killGroup(job.child);
    json(response, {});
  }
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
}

const ACCOUNT = { credits: 42, plan: { name: 'team' }, rate_card: { small: 0.1, gpu: { credits_per_hour: 60 } } };

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** The whole log again for each reader, without numbers; the stream closes when the job is over. */
function follow({ child, lines, readers }: Job, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
  for (const text of lines) send(response, text);
  if (child.exitCode !== null || child.signalCode !== null) response.end();
  else {
    readers.add(response);
    response.once('close', () => readers.delete(response));
  }
}

function send(response: ServerResponse, text: string): void {
  response.write(`event: output\ndata: ${JSON.stringify({ text })}\n\n`);
}
