// What running one node of a recorded run again costs over the node itself, which does nothing here: from the request to the report.
// It uses the built runner, as the extension does: run `npm run build` first.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runRecorded } from '../src/flows/run/history/recordedRun.ts';
import { RunHistory } from '../src/flows/run/history/runHistory.ts';
import { runVisit } from '../src/flows/run/history/visitRun.ts';
import { built } from '../test/service/support/built.ts';

const ROUNDS = 20;
const NODES = 40;
const LIMIT_MS = 300;

const names = Array.from({ length: NODES }, (_, index) => `n${index}`);
const source = [
  "import { Flow, Node } from 'farwharf/agents';",
  'class Add extends Node { prep(s) { return s.count ?? 0; } exec(n) { return n + 1; } post(s, _, n) { s.count = n; } }',
  ...names.map((name) => `const ${name} = new Add({ name: '${name}' });`),
  `export const flow = new Flow({ start: n0, name: 'Chain' })${names
    .map((name, index) => `.connect(${name}, ${names[index + 1] ?? 'null'})`)
    .join('')};`,
];
const folder = await mkdtemp(join(tmpdir(), 'farwharf-visits-'));
const runtime = { node: process.execPath, runner: built('flowRunner.mjs') };
const history = new RunHistory(folder);
const place = { file: join(folder, 'chain.mjs'), cwd: folder, env: process.env };
const options = { signal: new AbortController().signal, onEvent: () => {} };
await writeFile(place.file, source.join('\n'));
const { record } = await runRecorded(history, runtime, place, options);
const times: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const started = performance.now();
  const { now } = await runVisit(history, runtime, { ...place, run: record.id, path: 'n20' }, options);
  times.push(performance.now() - started - now.micros / 1_000);
}
await rm(folder, { recursive: true, force: true });
times.sort((a, b) => a - b);
const at = (part: number): number => Math.round(times[Math.floor(part * (times.length - 1))] ?? Number.NaN);
process.stdout.write(`one node again: ${at(0.5)} ms over the node (${at(0)} to ${at(1)}; limit ${LIMIT_MS})\n`);
process.exit(at(0.5) <= LIMIT_MS ? 0 : 1);
