import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch } from './commandLine.ts';

test('after a kill of the command its job runs on, is listed, and its whole log and results are there', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'tick.sh': 'echo one\nsleep 1.5\necho two\necho made > out.txt\n' });
  const killed = await scratch.run(['submit', folder, '--script', 'tick.sh', '--watch', '--download'], {
    env,
    onOutput: ({ stdout }, kill) => stdout.includes('one') && kill('SIGKILL'),
  });
  assert.deepEqual([killed.exit, killed.stdout], [null, 'one\n']);
  const [job, ...more] = await listJobs(scratch, env);
  assert.deepEqual([job?.state, more], ['running', []]);
  const id = job?.job_id ?? '';
  const watched = await scratch.run(['watch', id], { env });
  assert.deepEqual([watched.exit, watched.stdout], [0, 'one\ntwo\n'], watched.stderr);
  assert.equal((await scratch.run(['download', id], { env })).exit, 0);
  assert.equal(await readFile(join(folder, 'out.txt'), 'utf8'), 'made\n');
});

test('two commands at once from one folder send one job each, and the results of neither replace the other', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  // Long enough that both have read the folder before either has results.
  const folder = await scratch.folder('project', { 'run.sh': 'sleep 2; echo $$ | tee out.txt' });
  const submit = ['submit', folder, '--script', 'run.sh', '--watch', '--download'];
  const done = await Promise.all([scratch.run(submit, { env }), scratch.run(submit, { env })]);
  for (const { exit, stderr } of done) assert.equal(exit, 0, stderr);
  assert.equal((await listJobs(scratch, env)).length, 2);
  const results = (await readdir(folder)).filter((name) => name.startsWith('out'));
  const contents = await Promise.all(results.map((name) => readFile(join(folder, name), 'utf8')));
  assert.deepEqual(contents.sort(), done.map(({ stdout }) => stdout).sort());
});

test('a line that is cut in the middle of an upload: the outcome is told as unknown, and no job and no hold are left', async () => {
  await using scratch = await Scratch.create();
  const { url, env } = await scratch.serve(['--host', '0.0.0.0', '--behind-proxy']);
  const folder = await scratch.folder('project', { 'run.sh': 'true' });
  await writeFile(join(folder, 'data.bin'), randomBytes(8 << 20));
  await using line = await startLine(Number(new URL(url).port), 2 << 20);
  const cut = await scratch.run(['submit', folder, '--script', 'run.sh'], {
    env: { ...env, FARWHARF_REMOTE_HOST: line.url },
  });
  assert.equal(cut.exit, 5, cut.stderr);
  assert.match(
    cut.stderr,
    /was lost before it answered\. \d+ % .*most likely does not exist.*before you send it again/,
  );
  const [account = {}] = jsonLines((await scratch.run(['me', '--json'], { env })).stdout);
  assert.equal(account['credits'], 1000);
});

interface ListedJob {
  readonly job_id: string;
  readonly state: string;
}

async function listJobs(scratch: Scratch, env: Readonly<Record<string, string>>): Promise<readonly ListedJob[]> {
  const { stdout } = await scratch.run(['jobs', '--json'], { env });
  return (JSON.parse(stdout) as { jobs: readonly ListedJob[] }).jobs;
}

/** A line to a service on this machine that is cut once so many bytes went up one connection. */
async function startLine(port: number, cutAfterBytes: number): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    const cut = (): void => void [near.destroy(), far.destroy()];
    let bytes = 0;
    near.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > cutAfterBytes) cut();
    });
    for (const end of [near, far]) end.on('error', cut).on('close', cut);
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
