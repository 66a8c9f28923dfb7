import { basename, dirname, join, relative, resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { FLOW_TEST_SUFFIX } from '../../flows/run/testing/flowTestFile.ts';
import { pinFlowTest } from '../../flows/run/testing/flowTestRun.ts';
import { findNetworkNamespace } from '../../flows/run/process/networkNamespace.ts';
import { readEvents } from '../../flows/run/history/runFiles.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import { timelinesOf } from '../../flows/run/protocol/timeline.ts';
import type { Context } from '../command/context.ts';
import { EXIT } from '../command/exit.ts';

/** `farwharf flow pin`: makes a test of a kept run. JSON: `{ test }`, its path. */
export async function pinFlow(
  { terminal, env, signal, program }: Context,
  argument: string,
  { run, name, env: variables }: { readonly run: string; readonly name: string; readonly env?: readonly string[] },
): Promise<number> {
  const file = resolve(argument);
  const history = new RunHistory(farwharfHome(env));
  const record = await history.find(file, run);
  const folder = await history.folder(file, record.id);
  const test = join(dirname(file), `${basename(file).replace(/\.\w+$/, '')}.${name}${FLOW_TEST_SUFFIX}`);
  await pinFlowTest(
    test,
    { file, folder, record, timelines: timelinesOf(await readEvents(folder)) },
    { node: process.execPath, runner: program.flowRunner },
    { signal, env, variables, network: await findNetworkNamespace(env) },
  );
  terminal.json({ test });
  if (!terminal.isJson) terminal.answer(relative(process.cwd(), test));
  return EXIT.done;
}
