import { basename, dirname, join, relative, resolve } from 'node:path';
import { farwharfHome } from '../../core/home.ts';
import { FLOW_TEST_SUFFIX } from '../../flows/run/flowTestFile.ts';
import { pinFlowTest } from '../../flows/run/flowTestRun.ts';
import { findNetworkNamespace } from '../../flows/run/networkNamespace.ts';
import { readEvents } from '../../flows/run/runFiles.ts';
import { RunHistory } from '../../flows/run/runHistory.ts';
import { timelinesOf } from '../../flows/run/timeline.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';

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
