// Sends requests over some connections, each as soon as the last was answered or at a steady rate, and prints how long the
// answers took. Those of the first second are not measured: until then, this process compiles what it runs. Usage: requestsOnce.ts URL KEY submit|get|list CONNECTIONS SECONDS RATE|0 [ID...]
import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { printLine } from './companion.ts';
import { Latencies } from './latencies.ts';

const [, , url = '', key = '', kind, connections, seconds, rate, ...ids] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const BOUNDARY = '----farwharf-bench';

async function smallJob(): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name: 'run.sh' }, 'echo done\n');
  archive.entry({ name: 'src/data.json' }, JSON.stringify(Array.from({ length: 200 }, (_, i) => i * i)));
  archive.finalize();
  const part = (disposition: string, type: string): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${type}\r\n`;
  return Buffer.concat([
    Buffer.from(part('name="tarball"; filename="workspace.tar.gz"', 'Content-Type: application/gzip\r\n')),
    gzipSync(await buffer(archive)),
    Buffer.from(`\r\n${part('name="meta"', '')}{"script":"run.sh","max_runtime":60}\r\n--${BOUNDARY}--\r\n`),
  ]);
}

const body = kind === 'submit' ? await smallJob() : undefined;

/** Returns the status and the text of the response, once all of it was read. */
function send(path: string): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    const upload = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': body?.length };
    const call = request(
      url + path,
      { agent, method: body ? 'POST' : 'GET', headers: body ? { ...headers, ...upload } : headers },
      (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (text: string) => (answer += text));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, answer }));
      },
    );
    call.once('error', reject).end(body);
  });
}

const WARM_UP_SECONDS = 1;

const delays = new Latencies();
const accepted: string[] = [];
const failures = new Map<number, number>();
const startedAt = performance.now();
const elapsed = (): number => (performance.now() - startedAt) / 1000 - WARM_UP_SECONDS;
let sent = 0;

async function sendOn(): Promise<void> {
  while (elapsed() < Number(seconds)) {
    const turn = sent++;
    // The time of a request at a rate counts from when it was due, so that a service that halts is not let off.
    const due = Number(rate) > 0 ? startedAt + (turn / Number(rate)) * 1000 : performance.now();
    if (due > performance.now()) await sleep(due - performance.now());
    const path = kind === 'get' ? `/v1/jobs/${ids[(turn * 7919) % ids.length]}` : '/v1/jobs';
    const { status, answer } = await send(path);
    if (status < 300 && due >= startedAt + WARM_UP_SECONDS * 1000) delays.add(performance.now() - due);
    if (status === 201) accepted.push((JSON.parse(answer) as { job_id: string }).job_id);
    if (status >= 300) failures.set(status, (failures.get(status) ?? 0) + 1);
  }
}

await Promise.all(Array.from({ length: Number(connections) }, sendOn));
const { user, system } = process.cpuUsage();
printLine({
  ...delays.summary(),
  perSecond: delays.count / elapsed(),
  sent,
  cpuSeconds: (user + system) / 1e6,
  ids: accepted,
  failures: Object.fromEntries(failures),
});
agent.destroy();
