import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../random.ts';
import { until } from '../../service/commandLine.ts';
import { makeArchive } from '../../service/support/archive.ts';
import type { ServiceClient } from '../../service/support/service.ts';
import type { Kill, Life, Place } from '../campaign.ts';
import { KilledService } from '../service.ts';

const AT_ONCE = 3;
const PIECE_BYTES = 32_768;
const MAX_BYTES = 1_500_000;

/** Uploads to a service that is killed: what it said that it has, it has, the rest is added, and each is one job with the files that were sent. */
export const uploads: Place = {
  name: 'uploads',
  begin: async (folder, random) => new UploadsLife(folder, random),
};

interface Upload {
  readonly key: string;
  readonly archive: Uint8Array<ArrayBuffer>;
  readonly output: string;
  jobId?: string;
  /** The most that the service said to have. */
  received: number;
}

interface Status {
  readonly state: 'accepted' | 'incomplete' | 'checking';
  readonly job_id?: string;
  readonly received_bytes?: number;
}

class UploadsLife implements Life {
  readonly #random: Random;
  readonly #service: KilledService;
  readonly #uploads: Upload[] = [];

  constructor(folder: string, random: Random) {
    this.#random = random;
    this.#service = new KilledService(join(folder, 'home'), 4);
  }

  async kill(): Promise<Kill> {
    const client = await this.#service.start();
    const begun = await Promise.all(Array.from({ length: AT_ONCE }, () => this.#prepare()));
    this.#uploads.push(...begun);
    const sending = Promise.all(begun.map((upload) => this.#send(client, upload, 0).catch(() => {})));
    const asking = Promise.all(begun.map((upload) => ask(client, upload).catch(() => {})));
    await sleep(this.#random() * 250);
    await this.#service.end('SIGKILL');
    await Promise.all([sending, asking]);
    const unanswered = begun.filter(({ jobId }) => jobId === undefined).length;

    const next = await this.#service.start();
    for (const upload of this.#uploads) {
      const status = await statusOf(next, upload);
      if (upload.jobId !== undefined) assert.deepEqual([status.state, status.job_id], ['accepted', upload.jobId]);
      if (status.state !== 'incomplete') continue;
      const received = status.received_bytes ?? 0;
      assert.ok(received >= upload.received, `${upload.received} bytes were there, and now ${received}`);
      await this.#send(next, upload, received);
    }
    for (const { key, jobId } of begun) {
      assert.equal((await statusOf(next, { key })).job_id ?? 'none', jobId ?? (await statusOf(next, { key })).job_id);
    }
    return { isMidWrite: unanswered > 0 };
  }

  async finish(): Promise<void> {
    const client = await this.#service.start();
    const ids = new Set<string>();
    for (const upload of this.#uploads) {
      const { state, job_id: id = '' } = await statusOf(client, upload);
      assert.equal(state, 'accepted');
      assert.ok(!ids.has(id), `${id} is the job of two uploads`);
      ids.add(id);
      assert.equal((await client.untilEnd(id)).state, 'succeeded');
      assert.equal(await client.output(id), upload.output, 'the files are those that were sent');
    }
    const { jobs } = await client.json<{ jobs: { job_id: string }[] }>('/v1/jobs?limit=500');
    assert.deepEqual(new Set(jobs.map(({ job_id: id }) => id)), ids);
    assert.deepEqual(readdirSync(join(client.data, 'uploads')), []);
    assert.deepEqual(new Set(readdirSync(join(client.data, 'jobs'))), ids);
    await this.#service.end('SIGTERM');
    await until(() => this.#service.orphans().length === 0); // the runner of a job that has ended is a moment behind
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  async #prepare(): Promise<Upload> {
    const noise = randomBytes(1 + Math.floor(this.#random() * MAX_BYTES));
    const archive = await makeArchive({ 'a.sh': 'sha256sum noise', noise });
    const output = `${createHash('sha256').update(noise).digest('hex')}  noise\n`;
    return { key: randomUUID(), archive, output, received: 0 };
  }

  /** Sends an archive from an offset on, in pieces, so that a kill may come between any two. */
  async #send(client: ServiceClient, upload: Upload, offset: number): Promise<void> {
    const form = new FormData();
    form.append(
      'tarball',
      new Blob([upload.archive.subarray(offset)], { type: 'application/gzip' }),
      'workspace.tar.gz',
    );
    form.append('meta', JSON.stringify({ script: 'a.sh', max_runtime: 600 }));
    const whole = new Response(form);
    const bytes = new Uint8Array(await whole.arrayBuffer());
    const pause = this.#random() * 8;
    const body = (async function* () {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        yield bytes.subarray(at, at + PIECE_BYTES);
        await sleep(pause);
      }
    })();
    const response = await client.request('/v1/jobs', {
      method: 'POST',
      body: ReadableStream.from(body),
      duplex: 'half',
      headers: {
        'content-type': whole.headers.get('content-type') ?? '',
        'idempotency-key': upload.key,
        ...(offset > 0 && { 'upload-offset': String(offset) }),
      },
    });
    const answer = (await response.json()) as { job_id?: string; detail?: string };
    assert.equal(response.status, 201, answer.detail);
    assert.ok(upload.jobId === undefined || upload.jobId === answer.job_id, 'one upload, one job');
    upload.jobId = answer.job_id ?? '';
  }
}

/** Asks what is there of an upload, as its client does after a lost answer. */
async function ask(client: ServiceClient, upload: Upload): Promise<void> {
  const status = await statusOf(client, upload);
  upload.received = Math.max(upload.received, status.received_bytes ?? 0);
}

function statusOf(client: ServiceClient, { key }: Pick<Upload, 'key'>): Promise<Status> {
  return client.json<Status>(`/v1/submissions/${key}`);
}
