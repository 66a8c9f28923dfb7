// What a hostile job does, again and again until its time is over: it tries to reach the service's store, its administration, other
// jobs and their processes, and the service itself, with nothing but its own means. It prints a line for all that it reaches.
import { spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  linkSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request, type RequestOptions } from 'node:http';
import { join } from 'node:path';

/** What a hostile account could know, passed by the test. */
interface Targets {
  readonly seconds: number;
  /** Of the service's data and of the files of jobs. */
  readonly folders: readonly string[];
  readonly url: string;
  /** The ID of another account's job, which runs. */
  readonly victim: string;
  readonly victimPids: readonly number[];
  /** Leaves out what would harm a machine that does not defend itself. */
  readonly isGentle: boolean;
}

const { seconds, folders, url, victim, victimPids, isGentle } = JSON.parse(process.argv[2] ?? '') as Targets;
// With classes of one letter, so that this file does not match.
const CANARY = /CANAR[Y]-[0-9a-f]{16}|SQLit[e] format 3/;
const MAX_BYTES = 1 << 20;
const PUBLIC = new Set(['/', '/healthz', '/openapi.json', '/sign-in', '/style.css']);
const counts = new Map<string, number>();
const reached = new Set<string>();
const tried = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
const pick = <T>(list: readonly T[]): T | undefined => list[randomInt(Math.max(1, list.length))];
const quiet = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

/** Reads a file, and says so if it contains what only the service or another job has. */
function read(path: string): string {
  tried('reads');
  const text = quiet(() =>
    statSync(path).isFile() ? readFileSync(path).subarray(0, MAX_BYTES).toString('latin1') : '',
  );
  if (text !== undefined && CANARY.test(text)) reached.add(`read ${path}`);
  return text ?? '';
}

/** Lists a folder, or nothing. */
function list(path: string): readonly string[] {
  tried('lists');
  return quiet(() => readdirSync(path)) ?? [];
}

/** All roads to a path: itself, through links, and through the file systems and folders of each process. */
function roadsTo(path: string): readonly string[] {
  const processes = list('/proc').filter((name) => /^\d+$/.test(name));
  const through = processes.flatMap((pid) => [`/proc/${pid}/root${path}`, `/proc/${pid}/cwd`, `/proc/${pid}/cwd/..`]);
  const link = join('.', `link-${randomBytes(4).toString('hex')}`);
  quiet(() => symlinkSync(path, link));
  return [path, link, `${'../'.repeat(12)}${path}`, ...through];
}

function attackFiles(): void {
  const folder = pick(folders) ?? '/';
  for (const road of roadsTo(folder)) {
    const names = [...list(road), 'service.db', 'service.db-wal', 'admin.json', 'runner.key', 'secrets.key', 'canary'];
    for (const name of names) read(join(road, name));
    const job = join(road, 'jobs', victim);
    for (const name of [
      'job.json',
      'output.ndjson',
      'claim.json',
      'workspace/canary',
      'results.tar.gz',
      'secrets.json',
    ]) {
      read(join(job, name));
      const copy = `copy-${randomBytes(4).toString('hex')}`;
      if (quiet(() => linkSync(join(job, name), copy)) !== undefined) reached.add(`linked ${name}`);
      rmSync(copy, { force: true });
    }
    for (const path of [
      join(job, 'cancel'),
      join(job, 'exit.json'),
      join(job, 'workspace/planted'),
      join(road, 'planted'),
    ]) {
      tried('writes');
      if (/\/cwd(\/\.\.)?$/.test(road)) continue; // its own folder, through its own processes
      if (quiet(() => (writeFileSync(path, 'planted'), true)) === true) reached.add(`wrote ${path}`);
    }
  }
  for (const name of list('.').filter((each) => each.startsWith('link-'))) rmSync(name, { force: true });
}

function attackProcesses(): void {
  for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const file of ['environ', 'maps', 'cmdline']) read(`/proc/${pid}/${file}`);
    for (const fd of list(`/proc/${pid}/fd`)) {
      const target = quiet(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '';
      if (folders.some((folder) => target.startsWith(folder)) && !target.includes('/jobs/'))
        reached.add(`sees ${target}`);
      read(`/proc/${pid}/fd/${fd}`);
    }
  }
  for (const pid of victimPids) {
    tried('signals');
    if (quiet(() => process.kill(pid, 0)) === true && !isOwn(pid)) reached.add(`may signal ${pid}`);
  }
}

/** Whether a process ID means one of this job, as in a sandbox with IDs of its own. */
function isOwn(pid: number): boolean {
  return (quiet(() => readFileSync(`/proc/${pid}/environ`, 'latin1')) ?? '').includes(
    `FARWHARF_JOB_ID=${process.env['FARWHARF_JOB_ID']}`,
  );
}

function attackPrivileges(): void {
  const data = folders[0] ?? '/';
  const commands = [
    ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', `umount -l '${data}'; cat '${data}'/*`],
    ['unshare', '--mount', 'sh', '-c', `mount --bind / /mnt && cat '/mnt${data}'/*`],
    ['nsenter', '--target', '1', '--mount', 'cat', join(data, 'service.db')],
    ['sudo', '-n', 'cat', join(data, 'canary')],
    ['chroot', '/proc/1/root', 'cat', join(data, 'canary')],
    ['scancel', `--name=${victim}`],
    ['setfacl', '--modify', `u:${process.getuid?.()}:rwx`, data],
    ['mount', '-t', 'proc', 'proc', '/mnt'],
  ];
  const [file = '', ...args] = pick(commands) ?? [];
  tried('privileges');
  const { stdout } = spawnSync(file, args, { timeout: 5_000, encoding: 'latin1', maxBuffer: MAX_BYTES });
  if (CANARY.test(stdout ?? '')) reached.add(`${file} ${args.join(' ')}`);
}

async function attackSockets(): Promise<void> {
  for (const path of folders.flatMap((folder) => roadsTo(join(folder, 'admin.sock')))) {
    tried('sockets');
    const answer = await ask({ socketPath: path, method: 'POST', path: '/admin/v1/accounts.list' }, '{}');
    if (answer !== undefined) reached.add(`the administration answered ${answer.status}`);
  }
}

async function attackService(): Promise<void> {
  const { hostname, port } = new URL(url);
  const routes = [
    '/v1/me',
    '/v1/jobs',
    `/v1/jobs/${victim}`,
    `/v1/jobs/${victim}/events`,
    `/v1/jobs/${victim}/artifacts`,
    '/v1/secrets',
  ];
  const more = [
    '/metrics',
    '/admin/v1/accounts.list',
    '/v1/../admin/v1/accounts.list',
    '//v1/me',
    '/%2e%2e/service.db',
    '/v1/me%00',
  ];
  const path = pick([...routes, ...more, ...PUBLIC]) ?? '/';
  const method = pick(['GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS']) ?? 'GET';
  const headers = pick<Record<string, string>>([
    {},
    { authorization: `Bearer ${randomBytes(24).toString('base64url')}` },
    { authorization: 'Bearer ' },
    { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' },
    { cookie: `session=${randomBytes(24).toString('base64url')}` },
    { host: 'localhost', 'x-original-url': '/metrics' },
  ]);
  tried('requests');
  const answer = await ask({ hostname, port, method, path, headers: headers ?? {} }, method === 'GET' ? '' : '{}');
  if (answer === undefined) return;
  const isOpen = PUBLIC.has(path) || method === 'OPTIONS';
  if (answer.status < 300 && !isOpen) reached.add(`${method} ${path} answered ${answer.status}`);
  if (CANARY.test(answer.body)) reached.add(`${method} ${path} answered with a secret`);
}

/** What a port or socket answers; undefined without an answer. */
function ask(options: RequestOptions, body: string): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    const sent = request({ ...options, timeout: 2_000, agent: false }, (response) => {
      let text = '';
      const done = (): void => resolve({ status: response.statusCode ?? 0, body: text });
      response.setEncoding('latin1').on('data', (chunk: string) => (text = (text + chunk).slice(0, MAX_BYTES)));
      response.once('end', done).once('error', done);
      setTimeout(() => (done(), response.destroy()), 2_000).unref(); // a stream of events does not end
    });
    sent.once('error', () => resolve(undefined)).once('timeout', () => sent.destroy());
    sent.end(body);
  });
}

const end = performance.now() + seconds * 1_000;
do {
  attackFiles();
  if (!isGentle) attackProcesses();
  if (!isGentle) attackPrivileges();
  await attackSockets();
  for (let requests = 0; requests < 10; requests += 1) await attackService();
} while (performance.now() < end);
const tries = [...counts].map(([what, count]) => `${count} ${what}`).join(', ');
process.stdout.write([...[...reached].map((what) => `REACHED ${what}`), `tried ${tries}`, ''].join('\n'));
