// The log of a real job that prints 1,000,000 lines, as VS Code's extension host handles it: the view that follows it, the parts of the
// full log, one part, the first error and a search. Prints the time, the longest time that the event loop was blocked, and the memory.
// Fails if the memory grows with the length of the log.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { LogTail } from '../src/extension/jobs/log/logTail.ts';
import { EventSpool } from '../src/jobs/log/spool.ts';
import { containing, findInLog, isErrorLine } from '../src/jobs/log/findInLog.ts';
import { LogParts } from '../src/jobs/log/logParts.ts';
import { ViewText } from '../src/jobs/log/viewText.ts';

const LINES = 1_000_000;
const MAX_MEMORY_MB = 150;
const SCRIPT = `
  for (let block = 0; block < ${LINES / 1000}; block += 1) {
    let text = '';
    for (let at = 0; at < 1000; at += 1) text += \`2026-11-24 18:00:00 INFO step \${block * 1000 + at} loss 0.00100 lr 0.0003\\n\`;
    process.stdout.write(text);
  }
  console.log('ERROR at the end');
  process.exitCode = 3;
`;
const base = mkdtempSync(join(tmpdir(), 'farwharf-long-log-'));
const [home, folder] = [join(base, 'home'), join(base, 'folder')];
const { signal } = new AbortController();

function runJob(): EventSpool {
  mkdirSync(folder);
  writeFileSync(join(folder, 'long.js'), SCRIPT);
  const cli = join(import.meta.dirname, '../src/cli/main.ts');
  spawnSync(process.execPath, [cli, 'submit', folder, '--script', 'long.js', '--watch'], {
    env: { ...process.env, FARWHARF_HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [file = ''] = readdirSync(join(home, 'spool'));
  return new EventSpool(home, basename(file, '.jsonl'));
}

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let peak = 0;

async function measure<T>(name: string, work: () => Promise<T>): Promise<T> {
  delay.reset();
  const started = performance.now();
  const result = await work();
  const ms = performance.now() - started;
  peak = Math.max(peak, process.memoryUsage().rss);
  const blocked = `blocked at most ${(delay.max / 1e6).toFixed(0)} ms (99 %: ${(delay.percentile(99) / 1e6).toFixed(0)})`;
  process.stdout.write(`${name.padEnd(28)} ${(ms / 1000).toFixed(2).padStart(6)} s  ${blocked}\n`);
  return result;
}

async function first(matches: (line: string) => boolean): Promise<number> {
  for await (const { line } of findInLog(spool, matches, signal)) return line;
  return 0;
}

const spool = runJob();
const before = process.memoryUsage().rss;
process.stdout.write(`${LINES.toLocaleString('en-US')} lines, ${((await spool.size()) / 1e6).toFixed(0)} MB on disk\n`);
await measure('the view, all of it', async () => {
  const [text, tail] = [new ViewText({}), new LogTail('')];
  for await (const event of spool.read()) tail.push(text.push(event));
  return tail.take();
});
const parts = new LogParts(spool);
await measure('finding the parts', () => parts.update(signal));
await measure('opening a part', () => parts.read(parts.partOf(LINES / 2), signal));
const error = await measure('the first error', () => first(isErrorLine));
await measure('a search of the whole log', () => first(containing(`STEP ${LINES - 1} `)));
const grown = (peak - before) / 1e6;
process.stdout.write(
  `${parts.all.length} parts, first error in line ${error}, memory at most ${grown.toFixed(0)} MB more\n`,
);
rmSync(base, { recursive: true, force: true, maxRetries: 5 });
process.exitCode = grown < MAX_MEMORY_MB && error > LINES ? 0 : 1;
