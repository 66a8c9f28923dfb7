import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { COMPILE_CACHE } from './compileCache.ts';

const REPORTER = join(import.meta.dirname, 'failedFilesReporter.mjs');

/** A guard against a hang only: a busy machine takes many times as long as a quiet one. */
const TEST_TIMEOUT_MS = 15 * 60_000;
/** Where more files fail, the cause is not chance. */
const MAX_RETRIED_FILES = 10;

interface Options {
  readonly files: readonly string[];
  /** How many files run at once. */
  readonly concurrency: number;
  /** More options of `node --test`. */
  readonly args?: readonly string[];
}

/**
 * Runs test files with `node --test`. Where a few have a failure, these run once more, one after the other, and only the second outcome
 * counts. Files that passed only then are named at the end.
 *
 * @returns the exit code.
 */
export function runTestsTwice({ files, concurrency, args = [] }: Options): number {
  const first = runTests({ files, concurrency, args });
  if (first.failedFiles.length === 0 || first.failedFiles.length > MAX_RETRIED_FILES) return first.status;
  const names = first.failedFiles.map((path) => relative(process.cwd(), path)).join(', ');
  process.stdout.write(`\n!!!! RETRIED: these files failed, and run once more by themselves: ${names}\n\n`);
  const { status } = runTests({ files: first.failedFiles, concurrency: 1, args });
  if (status === 0) process.stdout.write(`\n!!!! FLAKY: passed only when run again: ${names}\n`);
  return status;
}

function runTests({ files, concurrency, args = [] }: Options): { status: number; failedFiles: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'farwharf-tests-'));
  const report = join(folder, 'failed');
  const reporters = ['spec', REPORTER].map((name) => `--test-reporter=${name}`);
  const destinations = ['stdout', report].map((path) => `--test-reporter-destination=${path}`);
  const limits = [`--test-concurrency=${concurrency}`, `--test-timeout=${TEST_TIMEOUT_MS}`];
  try {
    const { status } = spawnSync(
      process.execPath,
      ['--test', ...limits, ...reporters, ...destinations, ...args, ...files],
      { stdio: 'inherit', env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env } },
    );
    return { status: status ?? 1, failedFiles: [...new Set(readFileSync(report, 'utf8').split('\n').filter(Boolean))] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
