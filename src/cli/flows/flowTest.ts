import { relative, resolve } from 'node:path';
import { AppError, isAbort, messageOf } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { formatCount, formatDuration } from '../../core/text/format.ts';
import { describeLive } from '../../flows/run/history/describeRun.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import { findFlowTests, flowTestPath } from '../../flows/run/testing/flowTestFile.ts';
import { pinFlowTest } from '../../flows/run/testing/flowTestPin.ts';
import { type FlowTestResult, runFlowTest } from '../../flows/run/testing/flowTestRun.ts';
import type { FlowTestOptions } from '../../flows/run/testing/testedRun.ts';
import { describeOpenNetwork, findNetworkNamespace } from '../../flows/run/start/networkNamespace.ts';
import { readReachOf } from './flowFile.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';

const MARKS = { passed: '✔', failed: '✖', updated: '↻' } as const;

type Verdict = Pick<FlowTestResult, 'status' | 'differences' | 'live' | 'durationMs'> & { readonly error?: string };

/** `farwharf flow pin`: saves a recorded run as a test. JSON: `{ test }`, the path of the test. */
export async function pinFlow(
  { terminal, cwd, env, signal, program }: Context,
  argument: string,
  { run, name, env: variables }: { readonly run: string; readonly name: string; readonly env?: readonly string[] },
): Promise<void> {
  const file = resolve(cwd, argument);
  const test = flowTestPath(file, name);
  const pinned = { history: new RunHistory(farwharfHome(env)), file, run };
  const network = await findNetworkNamespace(env);
  await pinFlowTest(test, pinned, program.flowRuntime, { signal, env, variables, network, readReach: readReachOf });
  if (!terminal.json({ test })) terminal.answer(relative(cwd, test));
}

/** `farwharf flow test`: runs pinned tests. JSON: `{ test, status, duration_ms, differences, live, error? }` for each. */
export async function testFlows(
  context: Context,
  first: string,
  { update = false, env: variables }: { readonly update?: boolean; readonly env?: readonly string[] },
  rest: readonly string[],
): Promise<number> {
  const { terminal, outputSignal: signal, cwd } = context;
  const tests = await findFlowTests([first, ...rest].map((path) => resolve(cwd, path)));
  if (tests.length === 0) {
    throw new AppError(
      'missing',
      'No flow tests found. Create one from the last run of a flow:  farwharf flow pin FILE',
    );
  }
  const network = await findNetworkNamespace(context.env);
  const openNetwork = update ? undefined : describeOpenNetwork(network);
  if (openNetwork !== undefined) terminal.note(openNetwork);
  const counts = { passed: 0, failed: 0, updated: 0 };
  let hasDifferences = false;
  for (const path of tests) {
    signal.throwIfAborted();
    const name = relative(cwd, path);
    const verdict = await judge(path, context, { isUpdate: update, variables, network });
    counts[verdict.status] += 1;
    const { status, durationMs, differences, live, error } = verdict;
    hasDifferences ||= differences.length > 0;
    terminal.json({
      test: name,
      status,
      duration_ms: Math.round(durationMs),
      differences,
      live,
      ...(error && { error }),
    });
    if (!terminal.isJson) for (const line of describe(name, verdict)) terminal.answer(line);
  }
  terminal.note(
    `${formatCount(tests.length, 'test')}: ${counts.passed} passed, ${counts.failed} failed` +
      (counts.updated === 0 ? '' : `, ${counts.updated} updated`),
  );
  // An update needs a test that can be read and run.
  if (hasDifferences && !update) terminal.note('Accept intended changes with:  farwharf flow test --update');
  return counts.failed === 0 ? EXIT.done : EXIT.failed;
}

/** A test that cannot be read fails, and the others still run. */
async function judge(
  path: string,
  { outputSignal: signal, env, program }: Context,
  options: Pick<FlowTestOptions, 'isUpdate' | 'variables' | 'network'>,
): Promise<Verdict> {
  try {
    return await runFlowTest(path, program.flowRuntime, { signal, env, readReach: readReachOf, ...options });
  } catch (error) {
    if (isAbort(error)) throw error;
    return { status: 'failed', differences: [], live: [], durationMs: 0, error: messageOf(error) };
  }
}

function describe(name: string, { status, durationMs, differences, live, error }: Verdict): string[] {
  const head = `${MARKS[status]} ${name} (${formatDuration(durationMs / 1000)})`;
  if (status === 'passed') return [head];
  return [
    head,
    ...(error === undefined ? [] : [`    ${error}`]),
    ...live.map(({ path, reason, files }) => `    ${path} ${describeLive(reason, files)}`),
    ...differences.flatMap((difference) => [
      `    ${difference.type === 'state' ? `shared.${difference.key}` : difference.type}`,
      ...difference.lines.map((line) => `      ${line}`),
    ]),
  ];
}
