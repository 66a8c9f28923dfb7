// Speaks for many jobs: writes lines into their outputs, as their runners would, at a steady rate over all of them. Each line
// states when it was written, and is an event of its own. Usage: speakerOnce.ts DATA; then {"ids", "rate", "seconds", "label"} on its input.
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { printLine } from './companion.ts';
import { paced, type SpeakTask, spokenText } from './speaking.ts';

interface Task extends SpeakTask {
  readonly ids: readonly string[];
}

const data = process.argv[2] ?? '';

async function speak({ ids, ...task }: Task): Promise<number> {
  const outputs = ids.map((id) => openSync(join(data, 'jobs', id, 'output.ndjson'), 'a'));
  const measured = await paced(task, (turn, label) => {
    const output = outputs[turn % outputs.length];
    // From one stream after the other: neighbours of the same would become one event.
    const stream = Math.floor(turn / outputs.length) % 2 === 0 ? 'stdout' : 'stderr';
    if (output !== undefined) writeSync(output, `${JSON.stringify({ stream, text: spokenText(turn, label) })}\n`);
  });
  for (const output of outputs) closeSync(output);
  return measured;
}

writeFileSync(join(data, 'speaker.json'), JSON.stringify({ pid: process.pid }));
printLine('ready');
for await (const line of createInterface(process.stdin)) printLine(await speak(JSON.parse(line) as Task));
