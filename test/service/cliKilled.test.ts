import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Finished, jsonLines, Scratch, startFake } from './commandLine.ts';
import { GATE, openGate } from './support/gate.ts';

test('after a kill of the command its job runs on, is listed, and its whole log and results are there', async () => {
  await using scratch = await Scratch.create();
  const { env, data } = await scratch.serve();
  const script = `echo one\n${GATE}\necho two\necho made > out.txt\n`;
  const folder = await scratch.folder('project', { 'tick.sh': script });
  const killed = await scratch.run(['submit', folder, '--script', 'tick.sh', '--watch', '--download'], {
    env,
    onOutput: ({ stdout }, kill) => stdout.includes('one') && kill('SIGKILL'),
  });
  assert.deepEqual([killed.exit, killed.stdout], [null, 'one\n']);
  const [job, ...more] = await listJobs(scratch, env);
  assert.deepEqual([job?.state, more], ['running', []]);
  const id = job?.job_id ?? '';
  await openGate(data);
  const watched = await scratch.run(['watch', id], { env });
  assert.deepEqual([watched.exit, watched.stdout], [0, 'one\ntwo\n'], watched.stderr);
  assert.equal((await scratch.run(['download', id], { env })).exit, 0);
  assert.equal(await readFile(join(folder, 'out.txt'), 'utf8'), 'made\n');
});

test('an upload is shown as sending while its process runs, and is settled at once when that was killed', async () => {
  await using scratch = await Scratch.create();
  const upload = Promise.withResolvers<void>();
  await using fake = await startFake((request, response) => {
    if (request.method === 'GET' && request.url?.endsWith('/me') === true) response.end('{"credits": 10}');
    else if (request.method === 'GET') response.writeHead(404).end('{"detail": "no such submission"}');
    else upload.resolve(void request.pause()); // and never reads on
  });
  const folder = await scratch.folder('project', { 'run.sh': '' });
  await writeFile(join(folder, 'data.bin'), randomBytes(24 << 20));
  let kill: ((signal: NodeJS.Signals) => void) | undefined;
  const submitted = scratch.run(['submit', folder, '--script', 'run.sh'], {
    env: fake.env,
    onOutput: (_, interrupt) => (kill = interrupt),
  });
  await upload.promise;
  const during = await scratch.run(['jobs'], { env: fake.env });
  assert.match(during.stdout, /^sending +run\.sh/m, during.stderr);
  kill?.('SIGKILL');
  assert.equal((await submitted).exit, null);
  const after = await scratch.run(['jobs'], { env: fake.env });
  assert.match(after.stdout, /^unknown +run\.sh/m, after.stderr);
  assert.match(after.stderr, /An earlier submit of run\.sh was interrupted/);
});

test('two commands at once from one folder send one job each, and the results of neither replace the other', async () => {
  await using scratch = await Scratch.create();
  const { env, data } = await scratch.serve();
  const script = `echo begun; ${GATE}; od -An -N8 -tx8 /dev/urandom | tee out.txt`;
  const folder = await scratch.folder('project', { 'run.sh': script });
  const submit = ['submit', folder, '--script', 'run.sh', '--watch', '--download'];
  // Both have read the folder before either has results.
  const begun = new Set<number>();
  const run = (number: number): Promise<Finished> =>
    scratch.run(submit, {
      env,
      onOutput({ stdout }) {
        if (!begun.has(number) && stdout.includes('begun') && begun.add(number).size === 2) void openGate(data);
      },
    });
  const done = await Promise.all([run(1), run(2)]);
  for (const { exit, stderr } of done) assert.equal(exit, 0, stderr);
  assert.equal((await listJobs(scratch, env)).length, 2);
  const results = (await readdir(folder)).filter((name) => name.startsWith('out'));
  const contents = await Promise.all(results.map((name) => readFile(join(folder, name), 'utf8')));
  assert.deepEqual(contents.sort(), done.map(({ stdout }) => stdout.replace('begun\n', '')).sort());
});

test('a connection that is cut repeatedly: the upload continues where it was interrupted, and is one job', async () => {
  await using scratch = await Scratch.create();
  const { submitted, credits } = await submitOver(scratch, { isLastCut: false });
  assert.equal(submitted.exit, 0, submitted.stderr);
  assert.match(submitted.stderr, /the connection to the service was lost; checking what arrived …\nuploaded/);
  assert.ok(credits < 1000, 'the job holds its credits');
});

test('a connection that stays cut in the middle of an upload: the outcome is reported as unknown, and no job and no hold are left', async () => {
  await using scratch = await Scratch.create();
  const { submitted, credits } = await submitOver(scratch, { isLastCut: true });
  assert.equal(submitted.exit, 5, submitted.stderr);
  assert.match(
    submitted.stderr,
    /was lost before it responded\. \d+ % .*most likely does not exist.*before you send it again/,
  );
  assert.equal(credits, 1000);
});

/** Submits 8 MB over a line that is cut after each 2 MB, or once and for all. Gives with it the credits that are left. */
async function submitOver(
  scratch: Scratch,
  { isLastCut }: { readonly isLastCut: boolean },
): Promise<{ readonly submitted: Finished; readonly credits: number }> {
  const { url, env } = await scratch.serve(['--host', '0.0.0.0', '--behind-proxy']);
  const folder = await scratch.folder('project', { 'run.sh': 'sleep 600' });
  await writeFile(join(folder, 'data.bin'), randomBytes(8 << 20));
  await using line = await startLine(Number(new URL(url).port), { cutAfterBytes: 2 << 20, isLastCut });
  const submitted = await scratch.run(['submit', folder, '--script', 'run.sh'], {
    env: { ...env, FARWHARF_REMOTE_HOST: line.url },
  });
  const [account = {}] = jsonLines((await scratch.run(['me', '--json'], { env })).stdout);
  return { submitted, credits: Number(account['credits']) };
}

interface ListedJob {
  readonly job_id: string;
  readonly state: string;
}

async function listJobs(scratch: Scratch, env: Readonly<Record<string, string>>): Promise<readonly ListedJob[]> {
  const { stdout } = await scratch.run(['jobs', '--json'], { env });
  return (JSON.parse(stdout) as { jobs: readonly ListedJob[] }).jobs;
}

/** A line to a service on this machine that is cut each time so many bytes went up one connection, or once and stays so. */
async function startLine(
  port: number,
  { cutAfterBytes, isLastCut }: { readonly cutAfterBytes: number; readonly isLastCut: boolean },
): Promise<AsyncDisposable & { readonly url: string }> {
  let isDead = false;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const cut = (): void => void [near.destroy(), far.destroy()];
    for (const end of [near, far]) end.on('error', cut).on('close', cut);
    if (isDead) return cut();
    let bytes = 0;
    near.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= cutAfterBytes) return;
      isDead = isLastCut;
      cut();
    });
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
