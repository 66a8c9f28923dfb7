import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type FlowTest, readFlowTest, writeFlowTest } from './flowTestFile.ts';
import { changedSteps } from '../../project/changedSteps.ts';
import type { FlowRuntime } from '../protocol/runRequest.ts';
import { runFolder } from '../history/runFolder.ts';
import { keptIn } from './expectation.ts';
import { differencesOf, type TestDifference } from './testDifference.ts';
import { type FlowTestOptions, type LiveStep, runTested } from './testedRun.ts';
import type { RunTimeline } from '../protocol/runTimeline.ts';
import { AppError } from '../../../core/errors.ts';
import { pathInside } from '../../../core/files/pathInside.ts';

export interface FlowTestResult {
  readonly status: 'passed' | 'failed' | 'updated';
  readonly differences: readonly TestDifference[];
  /** The steps whose `exec` ran because there was no recorded result for it. */
  readonly live: readonly LiveStep[];
  readonly timelines: readonly RunTimeline[];
  readonly durationMs: number;
}

/**
 * Runs a pinned test again.
 *
 * @throws AppError for a test that cannot be read, and the signal's reason on abort.
 */
export async function runFlowTest(
  path: string,
  runtime: FlowRuntime,
  options: FlowTestOptions,
): Promise<FlowTestResult> {
  const test = await readFlowTest(path);
  const file = await testedFile(path, test.file, options.root ?? dirname(path));
  const startedAt = performance.now();
  const scratch = await mkdtemp(join(tmpdir(), 'farwharf-flowtest-'));
  try {
    const recorded = runFolder(scratch);
    await writeFile(recorded.recording, lines(test.recording));
    await writeFile(recorded.calls, lines(test.models));
    const reach = await options.readReach(file);
    const stale = test.reach && changedSteps(test.reach, reach);
    const { actual, folders, ...run } = await runTested(path, { ...test, file }, { recorded, runtime, options, stale });
    options.signal.throwIfAborted();
    const differences = differencesOf(test.expect, actual, test.ignore);
    // An update must not make a missing key or a service that is down the expected result.
    const isBroken = actual.some(({ error }, index) => error !== undefined && test.expect[index]?.error === undefined);
    const isUpdate = options.isUpdate === true && !isBroken && differences.length + run.live.length > 0;
    if (isUpdate) {
      const recordings = await keptIn(folders, test.models);
      await writeFlowTest(path, { ...withoutHeader(test), expect: [...actual], reach, ...recordings });
    }
    const status = isUpdate ? 'updated' : differences.length === 0 ? 'passed' : 'failed';
    return { ...run, status, differences, durationMs: performance.now() - startedAt };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function withoutHeader({ about: _about, version: _version, ...test }: FlowTest): Omit<FlowTest, 'about' | 'version'> {
  return test;
}

function lines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

/**
 * The flow file that a test runs. A test written by others must not run anything outside its own folder.
 *
 * @param test the path of the test.
 * @param file as the test names it.
 * @param root the folder that the test was found in.
 * @throws AppError `refused` for a file outside the folder of the test, and for a test outside its root, with links resolved.
 */
async function testedFile(test: string, file: string, root: string): Promise<string> {
  const folder = dirname(test);
  const path = resolve(folder, file);
  const isInside = async (inner: string, outer: string): Promise<boolean> =>
    pathInside(outer, inner) !== undefined && pathInside(await realPath(outer), await realPath(inner)) !== undefined;
  if (!(await isInside(path, folder))) {
    const message = `The test ${test} runs ${file}, which is outside the folder of the test, so nothing was run. Put the test beside its flow.`;
    throw new AppError('refused', message);
  }
  if (!(await isInside(test, root))) {
    const message = `The test ${test} is outside the folder ${root}, so nothing was run. Open the test's own folder to run it.`;
    throw new AppError('refused', message);
  }
  return path;
}

/** A path with links resolved; unchanged if nothing is there, which the run then reports. */
async function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
