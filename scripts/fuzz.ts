// Fuzzes every reader of what others wrote, each in a process of its own: `node scripts/fuzz.ts [--reader NAME] [--seconds 600] [--seed 1]`.
// A failing input becomes a finding in test/fuzz/findings, which every run of the tests begins with.
import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/core/errors.ts';
import { findingPath, fuzz, FuzzFailure } from '../test/fuzz/fuzz.ts';
import { READERS } from '../test/fuzz/readers/index.ts';

const HANG_MS = 5_000;
const REPORT_MS = 1_000;
// Some errors quote what they refuse.
const MOST_SHOWN = 500;

/** What the process of a reader reports. */
interface Report {
  readonly inputs: number;
  readonly longestMs: number;
  readonly maxBytes: number;
  readonly failure?: string;
}

const { values: flags } = parseArgs({
  options: {
    reader: { type: 'string' },
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    child: { type: 'string' },
  },
});
const seconds = Number(flags.seconds);

if (flags.child !== undefined) await runReader(flags.reader ?? '', flags.child);
else {
  let failures = 0;
  const names = READERS.map(({ name }) => name).filter((name) => flags.reader === undefined || name === flags.reader);
  if (names.length === 0)
    throw new Error(`There is no reader ${flags.reader}; there is ${READERS.map(({ name }) => name).join(', ')}.`);
  for (const name of names) if (!(await watchReader(name))) failures += 1;
  process.exitCode = failures === 0 ? 0 : 1;
}

/** Runs a reader in a child process, which is stopped if it hangs. Returns whether nothing was found. */
async function watchReader(name: string): Promise<boolean> {
  const scratch = await mkdtemp(join(tmpdir(), 'farwharf-fuzzing-'));
  const inputFile = join(scratch, 'input');
  const own = ['--reader', name, '--child', inputFile, '--seconds', flags.seconds, '--seed', flags.seed];
  const child = fork(import.meta.filename, own);
  let last: Report = { inputs: 0, longestMs: 0, maxBytes: 0 };
  let isHanging = false;
  const onHang = (): void => {
    isHanging = true;
    child.kill('SIGKILL');
  };
  let timer = setTimeout(onHang, HANG_MS + 60_000); // the start compiles everything
  child.on('message', (report: Report) => {
    last = report;
    clearTimeout(timer);
    timer = setTimeout(onHang, HANG_MS + REPORT_MS);
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(timer);
  const failure =
    last.failure ?? (isHanging ? `did not end within ${HANG_MS} ms` : code === 0 ? undefined : 'the process ended');
  let savedPath = '';
  if (failure !== undefined) {
    const input = await readFile(inputFile);
    savedPath = await findingPath(name, input);
    await writeFile(savedPath, input);
  }
  await rm(scratch, { recursive: true });
  const figures = `${last.inputs} inputs, ${Math.round(last.inputs / seconds)}/s, longest ${last.longestMs.toFixed(0)} ms, ${Math.round(last.maxBytes / 1e6)} MB`;
  process.stdout.write(
    `${name.padEnd(14)} ${figures}${failure === undefined ? '' : `  FAILED: ${failure.slice(0, MOST_SHOWN)} -> ${savedPath}`}\n`,
  );
  return failure === undefined;
}

/** Fuzzes one reader in this process, with the input that it is at in a file. */
async function runReader(name: string, inputFile: string): Promise<void> {
  const reader = READERS.find((candidate) => candidate.name === name);
  if (reader === undefined) throw new Error(`There is no reader ${name}.`);
  const endsAt = performance.now() + seconds * 1000;
  let inputs = 0;
  let longestMs = 0;
  let begunAt = performance.now();
  let reportedAt = 0;
  const report = (failure?: string): void => {
    const maxBytes = process.resourceUsage().maxRSS * 1024;
    process.send?.({ inputs, longestMs, maxBytes, ...(failure !== undefined && { failure }) });
  };
  const onInput = (input: Buffer): void => {
    const now = performance.now();
    if (inputs > 0) longestMs = Math.max(longestMs, now - begunAt);
    inputs += 1;
    begunAt = now;
    writeFileSync(inputFile, input);
    if (now - reportedAt < REPORT_MS) return;
    reportedAt = now;
    report();
  };
  try {
    await fuzz(reader, { seed: Number(flags.seed), goesOn: () => performance.now() < endsAt, onInput });
    report();
  } catch (error) {
    report(error instanceof FuzzFailure ? String(error.cause) : messageOf(error));
  }
  process.disconnect();
}
