// What is paid while the index of an open folder is built: memory of the extension host, of its main thread and of the process of the
// index, and the longest time for which the main thread could do nothing else. This process stands for the extension host. The folder is
// the argument, or this repository. Linux only.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../src/core/log.ts';
import { SearchIndex } from '../src/extension/search/index/searchIndex.ts';
import { bundleProgram } from './support/bundledProgram.ts';
import { PeakMemory } from './support/peakMemory.ts';

const ROOT = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? ROOT);
const home = mkdtempSync(join(tmpdir(), 'farwharf-open-folder-'));
const print = (line: string): void => void process.stdout.write(`openFolder: ${line}\n`);
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0);

/** Of this thread: its objects, and what they hold outside. */
function threadBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Processor time of this thread. The sources are checked against the lowest Node.js, which has no such call; benches run on a newer one. */
function threadCpuMs(): number {
  const usage: unknown = Reflect.get(process, 'threadCpuUsage');
  if (typeof usage !== 'function') throw new Error('This bench needs Node.js 24 or newer.');
  const { user, system } = Reflect.apply(usage, process, []) as NodeJS.CpuUsage;
  return (user + system) / 1000;
}

const index = new SearchIndex({
  home,
  program: await bundleProgram(join(ROOT, 'src/extension/threads/folderIndexWorker.ts'), home),
  workerProgram: await bundleProgram(join(ROOT, 'src/retrieval/index/indexWorker.ts'), home),
  modelProgram: join(ROOT, 'src/retrieval/semantic/modelWorker.ts'),
  folders: () => [{ path: folder, isTrusted: false }],
  isPaused: false,
  log: createLogger((_level, line) => print(line)),
});
using memory = new PeakMemory({ index: ['folderIndexWorker', home] });
try {
  await sleep(500);
  const [processBefore, threadBefore] = [process.memoryUsage.rss(), threadBytes()];
  let [mostOfProcess, mostOfThread, longestCpuMs] = [0, 0, 0];
  const isOver = new AbortController();
  const watching = (async () => {
    while (!isOver.signal.aborted) {
      const before = threadCpuMs();
      await sleep(2);
      longestCpuMs = Math.max(longestCpuMs, threadCpuMs() - before);
      mostOfProcess = Math.max(mostOfProcess, process.memoryUsage.rss());
      mostOfThread = Math.max(mostOfThread, threadBytes());
    }
  })();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  await index.call((server) => server.settle());
  const wallMs = performance.now() - started;
  delay.disable();
  isOver.abort();
  await watching;
  while (index.status[0]?.state !== 'ready') await sleep(50);
  const [status] = index.status;
  print(
    `${status?.files} files, ${status?.chunks} chunks in ${(wallMs / 1000).toFixed(1)} s; ${megabytes(status?.bytes ?? 0)} MB on disk`,
  );
  print(
    `memory of the extension host at most ${megabytes(mostOfProcess)} MB, ${megabytes(mostOfProcess - processBefore)} MB more than before; ` +
      `of the index at most ${memory.megabytes.get('index')?.toFixed(0)} MB`,
  );
  print(`memory of its main thread at most ${((mostOfThread - threadBefore) / 1e6).toFixed(1)} MB more than before`);
  print(
    `the main thread was held up for at most ${(delay.max / 1e6).toFixed(1)} ms (99.9 % below ${(delay.percentile(99.9) / 1e6).toFixed(1)} ms), ` +
      `of which it worked at most ${longestCpuMs.toFixed(1)} ms by itself`,
  );
} finally {
  index.dispose();
  rmSync(home, { recursive: true, force: true });
}
