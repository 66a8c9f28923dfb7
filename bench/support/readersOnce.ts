// Reads the events of jobs over many connections, and prints how long each took from its creation until it was read.
// Usage: readersOnce.ts URL KEY CONNECTIONS LABEL ID...
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onInputEnd, printLine } from './companion.ts';
import { Latencies } from './latencies.ts';

const CONNECTS_AT_ONCE = 50;
const [, , url = '', key, connections, label, ...ids] = process.argv;
const { hostname, port, host } = new URL(url);
const spoken = new RegExp(`"text":"(\\d{13}) ${label} `, 'g');
const delays = new Latencies();

/** Resolves when the response has started. */
function read(id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.setEncoding('latin1').once('error', reject);
    socket.write(`GET /v1/jobs/${id}/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    let rest = '';
    socket.on('data', (chunk: string) => {
      resolve();
      const now = Date.now();
      const text = rest + chunk;
      const end = text.lastIndexOf('\n\n') + 1;
      for (const [, at] of text.slice(0, end).matchAll(spoken)) delays.add(now - Number(at));
      rest = text.slice(end);
    });
    socket.once('close', () => reject(new Error('A stream was cut.')));
  });
}

for (let opened = 0; opened < Number(connections); ) {
  const batch: Promise<void>[] = [];
  for (; batch.length < CONNECTS_AT_ONCE && opened < Number(connections); opened += 1) {
    batch.push(read(ids[opened % ids.length] ?? ''));
  }
  await Promise.all(batch);
}
await sleep(500);
printLine('ready');
onInputEnd(() => {
  printLine({ ...delays.summary(), cpuSeconds: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6 });
  process.exit();
});
