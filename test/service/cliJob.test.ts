import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonLines, Scratch, startFake } from './commandLine.ts';

const CLASSES = `
[process]
isolation = "none"

[[machine_classes]]
name = "large"
cpus = 1
memory_gb = 16
credits_per_minute = 10

[[machine_classes]]
name = "small"
cpus = 1
memory_gb = 8
credits_per_minute = 1
`;
const TRAIN = `
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
for (let step = 0; step < 50; step += 1) {
  console.log('farwharf:metric', JSON.stringify({ step, loss: 1 / (step + 1) }));
  await sleep(300);
}
console.log('farwharf:metric {"accuracy": NaN}');
writeFileSync('model.bin', 'x'.repeat(2_000));
`;

interface Page {
  readonly state: string;
  readonly folder: string | null;
  readonly timeline: readonly { readonly state: string; readonly seconds: number | null }[];
  readonly usage: readonly { readonly name: string; readonly max: number }[];
  readonly metrics: readonly {
    readonly name: string;
    readonly last: number | null;
    readonly points: readonly number[][];
  }[];
  readonly results: { readonly count: number };
  readonly advice: { readonly sentence: string; readonly cheaper: { readonly machineClass: string } | null } | null;
}

test("a job's page has its time line, usage, metrics, results and advice, while it runs and after it", async (t) => {
  if (process.platform !== 'linux') return t.skip('only Linux has /proc');
  await using scratch = await Scratch.create();
  const config = join(scratch.root, 'service.toml');
  await writeFile(config, CLASSES);
  const { env } = await scratch.serve(['--config', config]);
  const folder = await scratch.folder('project', { 'train.mjs': TRAIN });
  const sent = await scratch.run(['submit', folder, '--script', 'train.mjs --lr 0.1', '--max-runtime', '600'], { env });
  assert.equal(sent.exit, 0, sent.stderr);
  const id = sent.stdout.trim();
  const pageOf = async (): Promise<Page> =>
    jsonLines((await scratch.run(['job', id, '--json'], { env })).stdout)[0] as unknown as Page;

  let running = await pageOf();
  while (running.state !== 'succeeded' && running.metrics.length === 0) running = await pageOf();
  assert.equal(running.advice, null);
  assert.equal(running.timeline.at(-1)?.state, 'running');

  await scratch.run(['watch', id], { env });
  const ended = await pageOf();
  assert.deepEqual(
    ended.timeline.map(({ state }) => state),
    ['queued', 'starting', 'running', 'succeeded'],
  );
  const [loss, accuracy] = ended.metrics;
  assert.deepEqual([loss?.name, loss?.last, loss?.points.length], ['loss', 0.02, 50]);
  assert.deepEqual([accuracy?.name, accuracy?.last], ['accuracy', null]);
  assert.ok((ended.usage.find(({ name }) => name === 'memory_bytes')?.max ?? 0) > 1e6);
  assert.equal(ended.results.count, 1);
  assert.equal(ended.advice?.cheaper?.machineClass, 'small');
  assert.equal(ended.folder, folder);

  const { stdout } = await scratch.run(['job', id], { env });
  assert.match(stdout, /^state +succeeded$/m);
  assert.match(stdout, /^arguments --lr 0\.1$/m);
  assert.match(stdout, /^timeline +\d{4}-\d\d-\d\dT[\d:]{8}Z queued .*\n(.*\n)* +\d{4}-\S+ running \d/m);
  assert.match(stdout, /^memory +[▁▂▃▄▅▆▇█]+ +[\d.]+ MB, at most [\d.]+ MB$/m);
  assert.match(stdout, /^metrics +█[▁▂▃▄▅▆▇█]+▁ loss +0\.02$/m);
  assert.match(stdout, /^ +accuracy +NaN$/m);
  assert.match(stdout, /^results +1 file, 2\.0 KB: model\.bin \(2\.0 KB\)$/m);
  assert.match(stdout, /^advice +Used .* GB, .* and .*\. The class small would have cost .* instead of .* credits\.$/m);
});

test('a service that has only what the specification shows has a page too', async () => {
  await using scratch = await Scratch.create();
  await using fake = await startFake(({ url }, response) => {
    if (url === '/v1/jobs/j') response.end('{"job_id":"j","status":"COMPLETE"}');
    else if (url === '/v1/jobs/j/events') response.end('data: hello\n\nevent: gpu.usage\ndata: {"percent":97}\n\n');
    else response.writeHead(404).end('{}');
  });
  const { env } = fake;
  const done = await scratch.run(['job', 'j'], { env });
  assert.equal(done.exit, 0, done.stderr);
  assert.match(done.stdout, /^job +j\nstate +COMPLETE\n/);
  const [page] = jsonLines((await scratch.run(['job', 'j', '--json'], { env })).stdout);
  assert.deepEqual([page?.['usage'], page?.['metrics'], page?.['advice']], [[], [], null]);
});

test('a service without events has a page that says what is missing', async () => {
  await using scratch = await Scratch.create();
  await using fake = await startFake(({ url }, response) => {
    if (url === '/v1/jobs/j') response.end('{"job_id":"j","state":"running"}');
    else response.writeHead(500).end('{"detail":"no events here"}');
  });
  const done = await scratch.run(['job', 'j'], { env: fake.env });
  assert.equal(done.exit, 0);
  assert.match(done.stdout, /^state +running$/m);
  assert.match(done.stderr, /events of this job could not be read, so its page is incomplete\. .*no events here/);
});

test('jobs --all lists what the account submitted from elsewhere, beside what this machine knows', async () => {
  await using scratch = await Scratch.create();
  const { env } = await scratch.serve();
  const folder = await scratch.folder('project', { 'a.sh': 'true', 'b.sh': 'true' });
  const submit = async (script: string, home: string): Promise<string> => {
    const done = await scratch.run(['submit', folder, '--script', script, '--watch', '--json'], {
      env: { ...env, FARWHARF_HOME: join(scratch.root, home) },
    });
    return String(jsonLines(done.stdout)[0]?.['job_id']);
  };
  const elsewhere = await submit('a.sh', 'laptop');
  const own = await submit('b.sh', 'desk');
  const jobs = (...flags: string[]) =>
    scratch.run(['jobs', ...flags], { env: { ...env, FARWHARF_HOME: join(scratch.root, 'desk') } });
  const idsOf = async (...flags: string[]): Promise<readonly (readonly unknown[])[]> => {
    const [page = {}] = jsonLines((await jobs('--json', ...flags)).stdout);
    return (page['jobs'] as Record<string, unknown>[]).map((job) => [job['job_id'], job['state'], job['folder']]);
  };
  assert.deepEqual(await idsOf(), [[own, 'succeeded', folder]]);
  assert.deepEqual(await idsOf('--all'), [
    [own, 'succeeded', folder],
    [elsewhere, 'succeeded', null],
  ]);
  assert.deepEqual(await idsOf('--all', '--limit', '1'), [[own, 'succeeded', folder]]);
  const shown = await jobs('--all');
  assert.match(shown.stdout, new RegExp(`^succeeded +a\\.sh .*${elsewhere}$`, 'm'));
  assert.match(
    shown.stderr,
    new RegExp(`1 job was submitted elsewhere\\. Add one to your list: {2}farwharf add ${elsewhere}`),
  );
});

test('jobs --all of a service that repeats itself, lists nonsense, or lists nothing ends', async () => {
  await using scratch = await Scratch.create();
  const page = Array.from({ length: 100 }, (_, index) => ({ job_id: `job-${index % 7}`, state: 'x\u001b[2J' }));
  await using repeating = await startFake(({ url }, response) => {
    if (url?.startsWith('/v1/jobs?')) response.end(JSON.stringify({ jobs: [...page.slice(1), { job_id: '../..' }] }));
    else response.writeHead(404).end('{}');
  });
  const listed = await scratch.run(['jobs', '--all', '--limit', '1000', '--json'], { env: repeating.env });
  assert.equal(listed.exit, 0, listed.stderr);
  const [{ jobs = [] } = {}] = jsonLines(listed.stdout) as { jobs?: unknown[] }[];
  assert.equal(jobs.length, 7);
  await using without = await startFake((_, response) => void response.writeHead(404).end('{"detail":"no"}'));
  const refused = await scratch.run(['jobs', '--all'], { env: without.env });
  assert.equal(refused.exit, 2, refused.stderr);
  assert.match(refused.stderr, /does not list the jobs of an account/);
});
