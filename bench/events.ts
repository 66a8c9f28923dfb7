// Decoding of 1,000,000 server-sent events, against eventsource-parser with the same work around it: bytes in chunks of
// 64 KB in, an object with decoded JSON out for each event. The peer calls back; it is measured behind an async generator,
// which offers callers what `parseEvents` offers them (back-pressure, `for await`), and bare.
import { createParser } from 'eventsource-parser';
import { parseEvents } from '../src/remote/events/parseEvents.ts';
import type { ServerSentEvent } from '../src/remote/protocol/schemas.ts';

const EVENTS = 1_000_000;
const CHUNK_BYTES = 64 * 1024;
const RUNS = 5;

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
}

async function readOurs(bytes: Buffer): Promise<number> {
  let count = 0;
  for await (const { data } of parseEvents(chunksOf(bytes))) if (typeof data === 'object') count += 1;
  return count;
}

async function* iteratePeers(bytes: Buffer): AsyncGenerator<ServerSentEvent> {
  let events: ServerSentEvent[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent: ({ event = 'message', data, id }) => {
      const value: unknown = JSON.parse(data.trim());
      events.push(id === undefined ? { event, data: value } : { event, data: value, id });
    },
  });
  for await (const chunk of chunksOf(bytes)) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const ready = events;
    events = [];
    for (const event of ready) yield event;
  }
}

async function readPeers(bytes: Buffer): Promise<number> {
  let count = 0;
  for await (const { data } of iteratePeers(bytes)) if (typeof data === 'object') count += 1;
  return count;
}

async function readBarePeers(bytes: Buffer): Promise<number> {
  let count = 0;
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent({ data }) {
      const value: unknown = JSON.parse(data.trim());
      if (typeof value === 'object') count += 1;
    },
  });
  for await (const chunk of chunksOf(bytes)) parser.feed(decoder.decode(chunk, { stream: true }));
  return count;
}

async function seconds(read: (bytes: Buffer) => Promise<number>, bytes: Buffer): Promise<number> {
  const start = performance.now();
  const count = await read(bytes);
  if (count !== EVENTS) throw new Error(`Expected ${EVENTS} events, got ${count}.`);
  return (performance.now() - start) / 1000;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

const bytes = Buffer.concat(
  Array.from({ length: EVENTS }, (_, index) =>
    Buffer.from(
      `id: ${index}\nevent: log\ndata: {"stream":"stdout","text":"step ${index} loss ${(1 / (index + 1)).toFixed(4)}\\n"}\n\n`,
    ),
  ),
);
const ours: number[] = [];
const peers: number[] = [];
const bare: number[] = [];
for (let run = 0; run < RUNS; run++) {
  ours.push(await seconds(readOurs, bytes));
  peers.push(await seconds(readPeers, bytes));
  bare.push(await seconds(readBarePeers, bytes));
}
const row = (peer: string, times: readonly number[], target: string): string =>
  `events: 1,000,000 | farwharf ${median(ours).toFixed(2)} s | ${peer} ${median(times).toFixed(2)} s | ` +
  `speed ratio ${(median(times) / median(ours)).toFixed(2)}${target}\n`;
process.stdout.write(
  row('eventsource-parser as an async iterable', peers, ' (target >= 1.00)') +
    row('eventsource-parser, callbacks only', bare, '') +
    `events: peak RSS ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB, of which the input ${(bytes.length / 1e6).toFixed(0)} MB\n`,
);
