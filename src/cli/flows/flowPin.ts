import { relative, resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { flowTestPath } from '../../flows/run/testing/flowTestFile.ts';
import { pinFlowTest } from '../../flows/run/testing/flowTestPin.ts';
import { findNetworkNamespace } from '../../flows/run/process/networkNamespace.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import { readReachOf } from './flowFile.ts';
import type { Context } from '../command/context.ts';

/** `farwharf flow pin`: saves a recorded run as a test. JSON: `{ test }`, the path of the test. */
export async function pinFlow(
  { terminal, env, signal, program }: Context,
  argument: string,
  { run, name, env: variables }: { readonly run: string; readonly name: string; readonly env?: readonly string[] },
): Promise<void> {
  const file = resolve(argument);
  const test = flowTestPath(file, name);
  const pinned = { history: new RunHistory(farwharfHome(env)), file, run };
  const network = await findNetworkNamespace(env);
  await pinFlowTest(test, pinned, program.flowRuntime, { signal, env, variables, network, readReach: readReachOf });
  if (!terminal.json({ test })) terminal.answer(relative(process.cwd(), test));
}
