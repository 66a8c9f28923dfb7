import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { formatMicros } from '../../core/text/format.ts';
import { findChoice } from '../../flows/graph/flowChoice.ts';
import type { FlowProcessEvent } from '../../flows/run/protocol/runRequest.ts';
import type { ShownChange } from '../../flows/run/protocol/shownState.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import type { VisitReport } from '../../flows/run/history/nodeVisit.ts';
import { runVisit } from '../../flows/run/history/visitRun.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { flowPrinter } from '../terminal/flowPrinter.ts';
import type { FlowRunFlags } from './flowFlags.ts';
import { readIfFlow } from './flowFile.ts';

/** `farwharf flow run --node`: runs one node of an earlier run again. JSON: `{ type: "visit", path, visit, recorded, now }`. */
export async function runFlowNode(
  context: Context,
  file: string,
  { node: path = '', of: run = 'last', flow, env: variables, ...flags }: FlowRunFlags,
  shared: Readonly<Record<string, unknown>> | undefined,
): Promise<number> {
  if (flags.replay !== undefined || flags.from !== undefined) {
    throw new AppError('bad-input', '--node runs a single node, so it cannot be used with --replay or --from.');
  }
  const { terminal, outputSignal: signal, cwd, env, program } = context;
  const print = flowPrinter(terminal);
  const choice = flow === undefined ? {} : findChoice({ flows: readIfFlow(file)?.flows ?? [] }, flow);
  const request = { file, ...choice, cwd, env, variables, run, path, shared };
  const onEvent = (event: FlowProcessEvent): void => {
    if (event.type === 'output' || event.type === 'note') void print(event);
  };
  const visit = await runVisit(new RunHistory(farwharfHome(env)), program.flowRuntime, request, { signal, onEvent });
  if (!terminal.json({ type: 'visit', ...visit })) {
    terminal.note(`${visit.path}, visit ${visit.visit}`);
    for (const line of ['recorded:', ...linesOf(visit.recorded), 'now:', ...linesOf(visit.now)]) terminal.answer(line);
  }
  return visit.now.status === 'failed' ? EXIT.failed : EXIT.done;
}

function linesOf({ action, output, error, changes, calls, micros }: VisitReport): readonly string[] {
  return [
    error === undefined ? `  action ${action ?? 'default'}, ${formatMicros(micros)}` : `  failed: ${error}`,
    ...(output === undefined ? [] : [`  output ${output}`]),
    ...changes.map((change) => `  ${describeChange(change)}`),
    ...calls.map(({ model, reply }) => `  ${model}: ${reply}`),
  ];
}

function describeChange({ path, before, after }: ShownChange): string {
  return `shared.${path.join('.')}: ${before ?? '(absent)'} -> ${after ?? '(absent)'}`;
}
