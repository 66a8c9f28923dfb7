// What the extension host pays for the files of a huge folder before a submit: the longest time for which its thread worked without a
// pause while another thread selected the files, and while the summary was received, planned and turned into the rows of the preflight.
// The number of files is the argument, else 500,000. The same selection sent to the host as a list is measured beside it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '../src/core/log.ts';
import { type PreflightRow, preflightRows } from '../src/extension/submit/preflight/preflightItems.ts';
import { startThread } from '../src/core/rpc/rpcProgram.ts';
import { startBackground, THREAD_IDLE_MS } from '../src/extension/threads/background.ts';
import type { WorkerService } from '../src/extension/threads/worker.ts';
import { type SelectedFolder, summarizeSelection } from '../src/jobs/selection/selectedFolder.ts';
import { planSubmit } from '../src/jobs/plan/plan.ts';
import { selectFiles } from '../src/workspace/select/selection.ts';
import { bundleProgram } from './support/bundledProgram.ts';

const ROOT = join(import.meta.dirname, '..');
const FILES_IN_FOLDER = 1_000;
const files = Number(process.argv[2] ?? 500_000);
const print = (line: string): void => void process.stdout.write(`selection: ${line}\n`);

/** Processor time of this thread. The sources are checked against the lowest Node.js, which has no such call; benches run on a newer one. */
function threadCpuMs(): number {
  const usage: unknown = Reflect.get(process, 'threadCpuUsage');
  if (typeof usage !== 'function') throw new Error('This bench needs Node.js 24 or newer.');
  const { user, system } = Reflect.apply(usage, process, []) as NodeJS.CpuUsage;
  return (user + system) / 1000;
}

function rowsFor(selection: SelectedFolder): readonly PreflightRow[] {
  const draft = { script: '0/sample-0.py', maxRuntime: 600, include: [], exclude: [] };
  const plan = planSubmit({ host: 'local', service: 'this machine', account: undefined }, draft, selection);
  return preflightRows({ ...plan, folderName: 'folder' }, []);
}

const scratch = mkdtempSync(join(tmpdir(), 'farwharf-selection-'));
const program = await bundleProgram(join(ROOT, 'src/extension/threads/worker.ts'), scratch);
const background = startBackground<WorkerService>({
  start: () => startThread(program, { workerData: { home: join(scratch, 'home') } }),
  name: 'farwharf',
  log: createLogger((_level, line) => print(line)),
  lost: 'The thread was lost.',
  idle: { afterMs: THREAD_IDLE_MS, isNeeded: () => true },
});
try {
  const folder = join(scratch, 'folder');
  for (let made = 0; made < files; made += 1) {
    const inner = join(folder, String(Math.floor(made / FILES_IN_FOLDER)));
    if (made % FILES_IN_FOLDER === 0) mkdirSync(inner, { recursive: true });
    writeFileSync(join(inner, `sample-${made}.py`), '');
  }
  await background.service.thread.isNeeded();
  rowsFor(summarizeSelection('empty', { root: folder, files: [], totalBytes: 0, excluded: [], findings: [] })); // compiles them
  let longestMs = 0;
  const isOver = new AbortController();
  const watching = (async () => {
    while (!isOver.signal.aborted) {
      const before = threadCpuMs();
      await sleep(2);
      longestMs = Math.max(longestMs, threadCpuMs() - before);
    }
  })();
  const started = performance.now();
  const selection = await background.service.selections.select(folder, { isTrusted: false });
  const selectSeconds = (performance.now() - started) / 1000;
  const cpuBefore = threadCpuMs();
  const rows = rowsFor(selection);
  const planMs = threadCpuMs() - cpuBefore;
  await sleep(50);
  isOver.abort();
  await watching;
  print(
    `${selection.fileCount.toLocaleString('en-US')} files selected in ${selectSeconds.toFixed(1)} s by another thread`,
  );
  print(
    `this thread worked for at most ${longestMs.toFixed(1)} ms without a pause; plan and ${rows.length} rows: ${planMs.toFixed(1)} ms`,
  );

  const list = await selectFiles(folder, { isTrusted: false });
  const copyBefore = threadCpuMs();
  structuredClone(list);
  print(`a copy of the whole list takes ${(threadCpuMs() - copyBefore).toFixed(0)} ms`);
} finally {
  await background.end();
  rmSync(scratch, { recursive: true, force: true });
}
