// A service with running jobs that print lines at a steady rate over all of them: `logServiceOnce.ts JOBS LINES_PER_SECOND`. Prints its
// address.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onInputEnd, printLine } from './companion.ts';

const TICK_MS = 5;
const [jobs = 0, rate = 0] = process.argv.slice(2).map(Number);
const streams = new Set<ServerResponse>();

const server = createServer(({ url = '' }, response) => {
  const [, , , id = '', part] = url.split(/[/?]/);
  if (part !== 'events') {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ job_id: id, state: 'running', script: 'train.py', max_runtime: 3600 }));
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  streams.add(response);
  response.once('close', () => streams.delete(response));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
onInputEnd(() => process.exit());
printLine(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

while (streams.size < jobs) await sleep(TICK_MS);
const startedAt = performance.now();
for (let line = 0; ; await sleep(TICK_MS)) {
  const open = [...streams];
  for (; line < ((performance.now() - startedAt) / 1000) * rate; line += 1) {
    const data = { stream: 'stdout', text: `epoch 1 step ${line} loss ${(1 / (line + 1)).toFixed(6)}\n` };
    open[line % open.length]?.write(`id: ${line + 1}\nevent: log\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
