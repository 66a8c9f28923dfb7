import { dirname } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { answerRun } from '../../flows/run/history/answerRun.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import type { Context } from '../command/context.ts';
import { flowPrinter } from '../terminal/flowPrinter.ts';
import { readAnswer } from './jsonInput.ts';
import { readIfFlow, readReachOf } from './flowFile.ts';
import { reportEnd } from './flowRun.ts';

interface AnswerFlags {
  readonly input: string;
  readonly env?: readonly string[];
}

/** `farwharf flow answer`: continues a run that waits for a person. JSON: the same as of `flow run`. */
export async function answerFlow(
  context: Context,
  id: string,
  { input: json, env: variables }: AnswerFlags,
): Promise<number> {
  const { terminal, outputSignal: signal, env, program } = context;
  const input = readAnswer(json);
  const history = new RunHistory(farwharfHome(env));
  const record = await history.locate(id);
  const print = flowPrinter(terminal);
  const read = readIfFlow(record.file);
  const request = {
    record,
    input,
    cwd: record.cwd ?? dirname(record.file),
    env,
    variables,
    reach: read && (await readReachOf(record.file)),
  };
  const run = await answerRun(history, program.flowRuntime, request, {
    signal,
    onEvent: print,
  });
  return reportEnd(context, run);
}
