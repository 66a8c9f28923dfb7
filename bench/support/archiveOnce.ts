// Sends the same archive as one job after the other, each under a key of its own as the command line does, and prints how long each
// took. Usage: archiveOnce.ts URL KEY UPLOADS FILES BYTES, where BYTES that do not compress are in each file
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { printLine } from './companion.ts';
import { Latencies } from './latencies.ts';

const [, , url = '', key = '', ...counts] = process.argv;
const [uploads = 1, files = 1, bytes = 0] = counts.map(Number);

const tar = pack();
tar.entry({ name: 'run.sh' }, 'echo done\n');
for (let file = 1; file < files; file += 1) tar.entry({ name: `data/${file}.bin` }, randomBytes(bytes));
tar.finalize();
const archive = new Blob([gzipSync(await buffer(tar), { level: 1 })], { type: 'application/gzip' });

const delays = new Latencies();
const ids: string[] = [];
const startedAt = performance.now();
for (let upload = 0; upload < uploads; upload += 1) {
  const form = new FormData();
  form.set('meta', JSON.stringify({ script: 'run.sh', max_runtime: 60 }));
  form.set('tarball', archive, 'workspace.tar.gz');
  const sentAt = performance.now();
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': `${startedAt}-${upload}` };
  const response = await fetch(`${url}/v1/jobs`, { method: 'POST', headers, body: form });
  const answer = await response.text();
  if (response.status !== 201) throw new Error(`A submission was refused: ${response.status} ${answer}`);
  delays.add(performance.now() - sentAt);
  ids.push((JSON.parse(answer) as { job_id: string }).job_id);
}
printLine({ ...delays.summary(), megabytes: archive.size / 1e6, seconds: (performance.now() - startedAt) / 1000, ids });
