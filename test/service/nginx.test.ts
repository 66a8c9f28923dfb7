import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fieldOf } from '../../src/core/jsonFields.ts';
import { programsAreMissing } from '../../scripts/programs.ts';
import { jsonLines, Scratch, until } from './commandLine.ts';
import { type CertificateFiles, makeCertificate } from './support/certificate.ts';
import { freePort } from './support/freePort.ts';
import { GATE, openGate } from './support/gate.ts';
import { parseAll } from './support/service.ts';

const SAMPLE = join(import.meta.dirname, '../../docs/nginx.conf');
const UPLOAD_BYTES = 50 << 20;

/** The sample with the places that a person would change, changed; every other line is as it is documented. */
function fillIn(port: number, upstream: string, { cert, key }: CertificateFiles): string {
  const changes: readonly [string, string][] = [
    ['server 127.0.0.1:8787;', `server ${upstream};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['server_name jobs.example.org;', 'server_name localhost;'],
    ['/etc/letsencrypt/live/jobs.example.org/fullchain.pem', cert],
    ['/etc/letsencrypt/live/jobs.example.org/privkey.pem', key],
  ];
  return changes.reduce(
    (config, [from, to]) => {
      assert.ok(config.includes(from), `the sample has: ${from}`);
      return config.replace(from, to);
    },
    readFileSync(SAMPLE, 'utf8'),
  );
}

/** @returns the ID of its process, which starts others for the requests. */
async function startNginx(t: TestContext, folder: string, sample: string, port: number): Promise<number> {
  writeFileSync(join(folder, 'farwharf.conf'), sample);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const user = userInfo().uid === 0 ? 'user root;' : '';
  const main = `${user} daemon off; pid nginx.pid; error_log error.log warn; events {}
    http { access_log off; ${temporary.join(' ')} include farwharf.conf; }`;
  writeFileSync(join(folder, 'nginx.conf'), main);
  const errors = join(folder, 'error.log');
  writeFileSync(errors, '');
  const child = spawn('nginx', ['-p', `${folder}/`, '-c', 'nginx.conf', '-e', errors], { stdio: 'ignore' });
  t.after(() => child.kill('SIGTERM'));
  for (;;) {
    assert.equal(child.exitCode, null, readFileSync(errors, 'utf8'));
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([once(socket, 'connect').then(() => true), sleep(100, false)]).catch(() => false);
    socket.destroy();
    if (isOpen) return child.pid ?? 0;
    await sleep(20);
  }
}

test('behind nginx as documented: a large upload, a live log, a tunnel that continues, the results, and who asked', async (t) => {
  const missing = await programsAreMissing('nginx', {
    programs: ['nginx', 'openssl'],
    packages: ['nginx-light', 'openssl'],
  });
  if (missing !== undefined) return t.skip(`NO NGINX: ${missing}`);
  await using scratch = await Scratch.create();
  const folder = await scratch.folder('nginx', {});
  const files = makeCertificate(folder, 'proxy');
  const logFile = join(scratch.root, 'service.log');
  const service = await scratch.serve(['--behind-proxy', '--log', logFile]);
  const port = await freePort();
  const nginx = await startNginx(t, folder, fillIn(port, new URL(service.url).host, files), port);
  const url = `https://localhost:${port}`;
  const env = { ...service.env, FARWHARF_REMOTE_HOST: url, NODE_EXTRA_CA_CERTS: files.cert };
  const ask = (path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const authorization = `Bearer ${service.key}`;
      // A client that is not where the proxy is.
      const localAddress = '127.0.0.5';
      const options = { ca: readFileSync(files.cert), localAddress, headers: { authorization, ...headers } };
      get(url + path, options, resolve).once('error', reject);
    });

  const data = randomBytes(UPLOAD_BYTES);
  const project = await scratch.folder('project', {
    'a.sh': `echo begun; ${GATE}; cp data.bin copy.bin; echo over`,
  });
  writeFileSync(join(project, 'data.bin'), data);
  const sent = await scratch.run(['submit', project, '--script', 'a.sh', '--json'], { env });
  assert.equal(sent.exit, 0, sent.stderr);
  const id = String(jsonLines(sent.stdout).find((line) => 'job_id' in line)?.['job_id']);

  /** Each number arrives once although the processes that carry the tunnel are killed. */
  async function countThroughTunnel(job: string): Promise<void> {
    const count = 'i=0; while [ $i -lt 50 ]; do echo $i; i=$((i+1)); sleep 0.02; done; exit 7';
    let isCut = false;
    const counted = await scratch.run(['exec', job, '--', 'sh', '-c', count], {
      env,
      onOutput: ({ stdout }) => {
        if (isCut || !stdout.includes('5\n')) return;
        isCut = true;
        const workers = readFileSync(`/proc/${nginx}/task/${nginx}/children`, 'utf8').trim().split(' ');
        for (const worker of workers) process.kill(Number(worker), 'SIGKILL');
      },
    });
    assert.deepEqual([isCut, counted.exit], [true, 7], counted.stderr);
    assert.deepEqual(counted.stdout.trim().split('\n'), [...Array(50).keys()].map(String));
  }

  const stateOf = async () => fieldOf(JSON.parse(await text(await ask(`/v1/jobs/${id}`))), 'state');
  await until(async () => (await stateOf()) === 'running');
  await countThroughTunnel(id);

  // The log comes through while the job waits at a gate that is opened only then.
  const stream = await ask(`/v1/jobs/${id}/events`);
  let events = '';
  let isOpen = false;
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    events += chunk;
    if (!isOpen && events.includes('begun')) {
      isOpen = true;
      await openGate(service.data, id);
    }
  }
  assert.equal(parseAll(events).at(-1)?.event, 'end');

  const into = join(scratch.root, 'into');
  mkdirSync(into);
  const brought = await scratch.run(['download', id, '--into', into], { env });
  assert.equal(brought.exit, 0, brought.stderr);
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  assert.equal(digest(readFileSync(join(into, 'copy.bin'))), digest(data));

  const answer = await ask('/v1/me', { 'x-forwarded-for': '203.0.113.77' });
  await text(answer);
  assert.match(String(answer.headers['x-request-id']), /^[\da-f]{32}$/, "nginx's own id");
  const metrics = await ask('/metrics');
  await text(metrics);
  assert.equal(metrics.statusCode, 404);
  // The line of a request is written once its answer has gone.
  const log = (): string => readFileSync(logFile, 'utf8');
  const lineOf = (): string | undefined =>
    log()
      .split('\n')
      .slice(0, -1)
      .find((entry) => entry.includes(String(answer.headers['x-request-id'])));
  await until(() => lineOf() !== undefined);
  assert.match(lineOf() ?? '', /"client":"127\.0\.0\.5"/, 'what nginx saw, and not what the client claimed');
  assert.ok(!log().includes(service.key));
});
