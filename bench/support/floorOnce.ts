// The least that a service could do, as a floor: takes a body and adds a row that is on disk before the response, and reports
// everyone who reads a stream each event of that stream, which it makes itself. Usage: floorOnce.ts FOLDER STREAMS; then {"rate", "seconds",
// "label"} on its input
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { createInterface } from 'node:readline';
import { printLine } from './companion.ts';
import { paced, type SpeakTask, spokenText } from './speaking.ts';

const [, , folder = '', streams] = process.argv;
const database = new DatabaseSync(join(folder, 'floor.db'));
database.exec(
  'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS jobs (id INTEGER PRIMARY KEY, body BLOB)',
);
const insert = database.prepare('INSERT INTO jobs (body) VALUES (?)');
const readers = Array.from({ length: Number(streams) }, () => new Set<ServerResponse>());

async function keep(request: IncomingMessage, response: ServerResponse): Promise<void> {
  insert.run(await buffer(request));
  response.writeHead(201).end('{"job_id":"1"}');
}

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    void keep(request, response);
    return;
  }
  if (!(request.url ?? '').endsWith('/events')) {
    response.writeHead(200).end('{"job_id":"1"}');
    return;
  }
  const stream = readers[Number(/\d+/.exec(request.url?.slice(3) ?? '')?.[0] ?? 0)];
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
  stream?.add(response);
  response.once('close', () => stream?.delete(response));
});
server.listen(0, '127.0.0.1', () =>
  printLine({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'none' }),
);

async function speak(task: SpeakTask): Promise<number> {
  return paced(task, (turn, label) => {
    const text = spokenText(turn, label);
    const event = `id: ${turn}\nevent: log\ndata: ${JSON.stringify({ stream: 'stdout', text })}\n\n`;
    for (const reader of readers[turn % readers.length] ?? []) reader.write(event);
  });
}

for await (const line of createInterface(process.stdin)) printLine(await speak(JSON.parse(line) as SpeakTask));
server.closeAllConnections();
server.close();
database.close();
