import assert from 'node:assert/strict';
import type { RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch, startFake } from './commandLine.ts';
import { makeArchive } from './support/archive.ts';

const PROFILE = { script: 'run.sh ${matrix:n}', maxRuntime: 60, matrix: { n: [1, 2, 3] } };
const PROJECT = { 'run.sh': 'echo hi\n', 'farwharf.json': JSON.stringify({ profiles: { runs: PROFILE } }) };
const ACCOUNT = { credits: 100, rate_card: [{ machine_class: 'cpu', credits_per_minute: 0.1 }] };

interface SweepJson {
  readonly sweep_id: string;
  readonly jobs: readonly object[];
  readonly results?: readonly { readonly folder?: string; readonly error?: string }[];
}

function sweepsOf(stdout: string): readonly SweepJson[] {
  return jsonLines(stdout) as unknown as SweepJson[];
}

/** A service whose jobs succeed at once. `stall` says which requests it does not answer. */
async function startService(stall: (request: string, attempt: number, response: ServerResponse) => boolean) {
  const archive = await makeArchive({ 'out.txt': 'result' });
  const attempts = new Map<string, number>();
  const stalled = Promise.withResolvers<void>();
  const answer: RequestListener = (request, response) => {
    const { method, url = '' } = request;
    const name = `${method} ${url.replace(/\/job-\d+/, '')}`;
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    request.resume().once('end', () => {
      if (stall(name, attempt, response)) return stalled.resolve();
      if (url === '/v1/me') response.end(JSON.stringify(ACCOUNT));
      else if (method === 'POST')
        response.writeHead(201).end(JSON.stringify({ job_id: `job-${attempt}`, credit_hold: 0.1 }));
      else if (url.endsWith('/artifacts')) response.end(archive);
      else if (url.includes('/submissions/')) response.writeHead(404).end();
      else response.end(JSON.stringify({ state: 'succeeded', exit_code: 0 }));
    });
  };
  return { fake: await startFake(answer), stalled: stalled.promise };
}

test('Ctrl+C while the results of a sweep are downloaded keeps those that are here and says how to get the others', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', PROJECT);
  const stop = new AbortController();
  const { fake, stalled } = await startService((name, attempt) => name === 'GET /v1/jobs/artifacts' && attempt === 2);
  await using service = fake;
  void stalled.then(() => stop.abort());
  const args = ['submit', folder, '--profile', 'runs', '--download', '--json'];
  const left = await scratch.run(args, { env: service.env, signal: stop.signal });
  assert.equal(left.exit, 130, left.stderr);
  const [sweep, ...others] = sweepsOf(left.stdout);
  assert.deepEqual(others, []);
  const id = sweep?.sweep_id.slice(0, 8) ?? '';
  assert.deepEqual(
    sweep?.results?.map((job) => job.folder),
    [join(folder, 'runs', '1-n=1')],
  );
  assert.match(left.stderr, /Stopped\.\nThe results of 2 jobs were not downloaded\./);
  assert.match(left.stderr, new RegExp(`farwharf sweep download ${id}`));
  const done = await scratch.run(['sweep', 'download', id, '--json'], { env: service.env });
  assert.equal(done.exit, 0, done.stderr);
  assert.equal(sweepsOf(done.stdout)[0]?.jobs.length, 2);
});

test('the results of a sweep are not asked for again and again once the key is refused', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', PROJECT);
  let refused = 0;
  const { fake } = await startService((name, attempt, response) => {
    if (name !== 'GET /v1/jobs/artifacts' || attempt === 1) return false;
    refused += 1;
    response.writeHead(401).end();
    return true;
  });
  await using service = fake;
  const left = await scratch.run(['submit', folder, '--profile', 'runs', '--download', '--json'], { env: service.env });
  assert.equal(left.exit, 3, left.stderr);
  assert.equal(refused, 1);
  assert.match(left.stderr, /Set FARWHARF_API_KEY to a valid key.*\nThe results of 2 jobs were not downloaded\./);
  const results = sweepsOf(left.stdout)[0]?.results;
  assert.deepEqual(
    results?.map(({ error }) => error?.slice(0, 20)),
    [undefined, 'The API key or sign-'],
  );
});

test('a job of a sweep that may not have arrived is not said to be running', async () => {
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('project', PROJECT);
  const stop = new AbortController();
  const { fake, stalled } = await startService((name, attempt) => name === 'POST /v1/jobs' && attempt === 2);
  await using service = fake;
  void stalled.then(() => stop.abort());
  const left = await scratch.run(['submit', folder, '--profile', 'runs'], { env: service.env, signal: stop.signal });
  assert.equal(left.exit, 130, left.stderr);
  assert.match(
    left.stderr,
    /1 of 3 jobs was sent\. It keeps running\.\nThe service did not say whether it has 1 more job\./,
  );
  assert.match(left.stderr, / {2}find out, and send the others: {2}farwharf sweep resume [0-9a-f]{8}\n/);
});
