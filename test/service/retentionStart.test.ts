import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { smallDisk } from '../smallDisk.ts';
import { jsonLines, Scratch } from './commandLine.ts';
import { ServiceClient } from './support/service.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A data folder with ended jobs, of which `old` ended 40 days ago, as a stopped service of the same settings leaves it. */
async function jobsOfLastMonth(
  scratch: Scratch,
  { old, jobs = 10, toml = '' }: { readonly old: number; readonly jobs?: number; readonly toml?: string },
): Promise<{ data: string; start: StartFunction }> {
  const config = async (text: string): Promise<string> => {
    const path = join(scratch.root, 'service.toml');
    writeFileSync(path, text);
    return path;
  };
  const service = await scratch.serve(['--config', await config(toml)]);
  const client = new ServiceClient(service, service.data);
  const ids: string[] = [];
  for (let job = 0; job < jobs; job += 1) {
    ids.push(await client.submit({ 'a.sh': 'echo out; echo made > made.txt' }, { script: 'a.sh' }));
  }
  for (const id of ids) await client.untilEnd(id);
  await service.stop();
  const database = new DatabaseSync(join(service.data, 'service.db'));
  const age = database.prepare('UPDATE jobs SET finished_at = finished_at - ? WHERE id = ?');
  for (const id of ids.slice(0, old)) age.run(40 * DAY_MS, id);
  database.close();
  const start: StartFunction = async (text, flags = []) => {
    let isUp = false;
    return scratch.run(['serve', '--port', '0', '--data', service.data, '--config', await config(text), ...flags], {
      onOutput({ stderr }, interrupt) {
        if (!isUp && stderr.includes('admin account add')) {
          isUp = true;
          interrupt('SIGTERM');
        }
      },
    });
  };
  return { data: service.data, start };
}
type StartFunction = (text: string, flags?: string[]) => ReturnType<Scratch['run']>;

const stored = (data: string): number => readdirSync(join(data, 'jobs')).length;

test('a start that would delete more than a tenth because the settings became stricter asks first, with the figures', async () => {
  await using scratch = await Scratch.create();
  const { data, start } = await jobsOfLastMonth(scratch, { old: 2 });
  const checked = await start('[retention]\ndays = 30\n', ['--check']);
  assert.equal(checked.exit, 0, checked.stderr);
  assert.match(
    checked.stderr,
    /ok {7}\[retention\] deletes, of the results of 10 jobs \(\S+ KB\) and 10 logs: at the next start the results of 2 jobs \(\d+ B\) older than 30 days, 2 logs older than 30 days; within 7 days/,
  );
  assert.match(
    checked.stderr,
    /within 7 days the results of 2 jobs .*; within 30 days the results of 10 jobs .* older than 30 days/,
  );
  assert.match(checked.stderr, /warning .*--confirm-retention/);

  const refused = await start('[retention]\ndays = 30\n');
  assert.equal(refused.exit, 1);
  assert.match(
    refused.stderr,
    /not started, and nothing was deleted\. With days = 30 it would delete the results of 2 of 10 jobs \(\d+ B of \S+ KB\) and the logs of 2 of 10 jobs, which the settings of the last start \(no limits\) keep/,
  );
  assert.equal(stored(data), 10);
  assert.equal((await start('[retention]\ndays = 30\n')).exit, 1, 'a refused start is not a last start');

  const confirmed = await start('[retention]\ndays = 30\n', ['--confirm-retention']);
  assert.equal(confirmed.exit, 0, confirmed.stderr);
  assert.equal((await start('[retention]\ndays = 30\n')).exit, 0);
  const left = await start('[retention]\ndays = 30\n', ['--confirm-retention']);
  assert.match(left.stderr, /--confirm-retention is not needed/);
});

test('what expired as configured while the service was stopped is no surprise, and neither is less than a tenth', async () => {
  await using scratch = await Scratch.create();
  const unchanged = await jobsOfLastMonth(scratch, { old: 9, toml: '[retention]\ndays = 30\n' });
  assert.equal((await unchanged.start('[retention]\ndays = 30\n')).exit, 0);
  await using other = await Scratch.create();
  // Archives of results differ by a few bytes, so that one of ten could have more than a tenth of all bytes.
  const little = await jobsOfLastMonth(other, { old: 1, jobs: 12 });
  assert.equal((await little.start('[retention]\ndays = 30\n')).exit, 0);
});

test('a limit on the total size counts bytes as well as jobs, and is previewed while the service runs', async () => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  const client = new ServiceClient(service, service.data);
  const big = await client.submit({ 'a.sh': 'head -c 200000 /dev/urandom > big' }, { script: 'a.sh' });
  await client.untilEnd(big);
  for (let job = 0; job < 12; job += 1) {
    await client.untilEnd(await client.submit({ 'a.sh': 'echo small > small.txt' }, { script: 'a.sh' }));
  }
  const config = join(scratch.root, 'service.toml');
  writeFileSync(
    config,
    '[retention]\nmax_total_gb = 0.0001\n[[machine_classes]]\nname = "huge"\ncpus = 4000\nmemory_gb = 900000\ncredits_per_minute = 1\n',
  );
  const check = await scratch.run(['serve', '--data', service.data, '--config', config, '--check', '--json']);
  const [report] = jsonLines(check.stdout) as {
    checks: { what: string; warning: string | null }[];
    retention: Preview;
  }[];
  assert.equal(check.exit, 0, check.stderr);
  assert.deepEqual(
    report?.retention.plans.map(({ in_days: days, overflow }) => [days, overflow.jobs]),
    [
      [0, 1],
      [7, 1],
      [30, 1],
    ],
  );
  assert.match(report.retention.surprise ?? '', /results of 1 of 13 jobs \(20\d KB of 20\d KB\)/);
  assert.ok(report.checks.some(({ warning }) => warning?.includes('class huge is larger than this machine')));
  await service.stop();
});
interface Preview {
  readonly plans: readonly { readonly in_days: number; readonly overflow: { readonly jobs: number } }[];
  readonly surprise?: string;
}

test('a backup that cannot be written says why, and leaves nothing', async (t) => {
  await using scratch = await Scratch.create();
  const service = await scratch.serve();
  const backup = (file: string) => scratch.run(['admin', 'backup', file, '--data', service.data]);
  mkdirSync(join(scratch.root, 'folder'));
  for (const [file, says] of [
    [join(scratch.root, 'folder'), /folder already exists\. Choose another name/],
    [join(scratch.root, 'missing', 'b.tar.gz'), /cannot be written: its folder does not exist/],
    [join(scratch.root, `${'b'.repeat(300)}.tar.gz`), /its name is too long/],
    ['/proc/b.tar.gz', /cannot be written|may not be written/],
  ] as const) {
    const refused = await backup(file);
    assert.equal(refused.exit === 0, false, file);
    assert.match(refused.stderr, says);
    assert.doesNotMatch(refused.stderr, /Its log has the cause/);
  }
  const disk = smallDisk(t);
  if (disk === undefined) return;
  disk.fill();
  const full = await backup(join(disk.disk, 'b.tar.gz'));
  assert.match(full.stderr, /The disk is full, so .*b\.tar\.gz was not written\. Free some space/);
  assert.deepEqual(readdirSync(disk.disk), ['filler']);
});
