import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TraceFile } from '../../agents/records/traceFile.ts';
import { AppError } from '../../core/errors.ts';
import { formatBytes, formatCount, formatDuration } from '../../core/text/format.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { printableLine } from '../../core/text/printable.ts';
import { findChoice } from '../../flows/graph/flowChoice.ts';
import { describeRunEnd, describeRunNow, describeUsage, runStateWord } from '../../flows/run/history/describeRun.ts';
import type { FlowProcessEvent } from '../../flows/run/protocol/runRequest.ts';
import { type RecordedRun, runRecorded } from '../../flows/run/history/recordedRun.ts';
import { HISTORY_LIMITS, RunHistory } from '../../flows/run/history/runHistory.ts';
import { RunQueries } from '../../flows/run/history/runQueries.ts';
import type { RunRecord } from '../../flows/run/history/runRecord.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { flowPrinter } from '../terminal/flowPrinter.ts';
import { readIfFlow, readReachOf } from './flowFile.ts';
import type { FlowRunFlags } from './flowFlags.ts';
import { parseAnswerFlag, readSharedFlag } from './jsonInput.ts';
import { answerTable, formatAge, type RecordColumn } from '../command/recordTable.ts';
import { answerRun } from '../../flows/run/history/answerRun.ts';

const COLUMNS: readonly RecordColumn<RunRecord>[] = [
  { title: 'RUN', cell: ({ id }) => id },
  {
    title: 'FLOW',
    cell: ({ name, others = [] }) => [...(name === undefined ? [] : [name]), ...others].join(', '),
    minWidth: 6,
    dropOrder: 3,
  },
  { title: 'STEPS', cell: ({ steps }) => String(steps ?? ''), align: 'right', dropOrder: 2 },
  { title: 'MODELS', cell: ({ usage }) => (usage === undefined ? '' : describeUsage(usage)), dropOrder: 1 },
  { title: 'STARTED', cell: ({ startedAt }) => formatAge(startedAt), dropOrder: 4 },
  { title: 'END', cell: describeRunNow, minWidth: 10 },
];

const RETENTION =
  `Each file keeps its newest ${HISTORY_LIMITS.runs} runs, up to ${formatBytes(HISTORY_LIMITS.bytes)}, and older ones that wait, run, or that a kept run ` +
  'continues or replays.';

interface AnswerFlags {
  readonly input: string;
  readonly env?: readonly string[];
}

/** `farwharf flow run`: runs a flow file here. JSON: a line for each event, and at the end `{ type: "end", run, outcome }`. */
export async function runFlowLocally(
  context: Context,
  argument: string,
  flags: FlowRunFlags,
  args: readonly string[],
): Promise<number> {
  const { terminal, outputSignal: signal, cwd, env } = context;
  const file = await readableFile(argument, cwd);
  const shared = flags.shared === undefined ? undefined : await readSharedFlag(flags.shared, cwd);
  if (flags.node !== undefined) return (await import('./flowNode.ts')).runFlowNode(context, file, flags, shared);
  const print = flowPrinter(terminal);
  const trace = flags.trace === undefined ? undefined : await openTrace(resolve(cwd, flags.trace));
  const { from, of = 'last' } = flags;
  const read = readIfFlow(file);
  try {
    const run = await runRecorded(
      new RunHistory(farwharfHome(env)),
      context.program.flowRuntime,
      {
        file,
        ...(flags.flow !== undefined && findChoice({ flows: read?.flows ?? [] }, flags.flow)),
        shared,
        args,
        cwd,
        env,
        variables: flags.env,
        replay: flags.replay,
        rerun: from === undefined ? undefined : { run: of, path: from },
        reach: read && (await readReachOf(file)),
      },
      {
        signal,
        onEvent: (event: FlowProcessEvent) => {
          if (event.type === 'run') trace?.onEvent(event.event);
          return print(event);
        },
      },
    );
    const exit = reportEnd(context, run);
    if (run.record.replayOf !== undefined) await noteDivergence(context, run.record, run.record.replayOf);
    return exit;
  } finally {
    await trace?.close();
  }
}

/** @throws AppError `missing` if the file has no folder: the trace would be lost after the run. */
async function openTrace(path: string): Promise<TraceFile> {
  const folder = dirname(path);
  const found = await stat(folder).catch((): undefined => undefined);
  if (found?.isDirectory() === true) return new TraceFile(path);
  throw new AppError(
    'missing',
    `The folder ${printableLine(folder)} for the trace does not exist. Create it, or choose another. Nothing was run.`,
  );
}

/** Names where a replay first differs from the run that it replayed. */
async function noteDivergence({ terminal, env }: Context, { file, id }: RunRecord, replayed: string): Promise<void> {
  const { divergence, isPartial } = await new RunQueries(farwharfHome(env)).compare(file, replayed, id);
  terminal.note(
    divergence === undefined
      ? `No difference from run ${replayed}${isPartial ? ' as far as both are recorded: a trace was full' : ''}.`
      : `First difference from run ${replayed} at step ${divergence.step + 1}: ${divergence.reason}`,
  );
}

/** The absolute path of a flow file. @throws AppError `missing` if there is none. */
export async function readableFile(argument: string, cwd: string): Promise<string> {
  const file = resolve(cwd, argument);
  const found = await stat(file).catch((): undefined => undefined);
  if (found?.isFile() === true) return file;
  throw new AppError('missing', `File ${printableLine(file)} does not exist. Check the path.`);
}

/** Prints how a run ended, and returns the exit status. */
export function reportEnd({ terminal }: Context, { record, outcome }: RecordedRun): number {
  terminal.json({ type: 'end', run: record.id, outcome });
  const seconds = (Date.parse(record.finishedAt ?? record.startedAt) - Date.parse(record.startedAt)) / 1000;
  const usage = record.usage === undefined ? '' : describeUsage(record.usage);
  const parts = [
    `${describeRunEnd(record.outcome)}, after ${formatDuration(seconds)}`,
    ...(usage === '' ? [] : [usage]),
    `run ${record.id}`,
  ];
  terminal.note(parts.join(' · '));
  if (outcome.type === 'waiting') terminal.note(`Answer it with:  farwharf flow answer ${record.id} --input JSON`);
  if (outcome.type === 'refused') return EXIT.badUse;
  if (outcome.type === 'stopped') return EXIT.interrupted;
  if (outcome.type === 'waiting') return EXIT.done;
  return outcome.type === 'done' && outcome.exitCode === 0 ? EXIT.done : EXIT.failed;
}

/** `farwharf flow runs`: the recorded runs of a flow file, the newest first. JSON: `{ runs: [...], removed }`. */
export async function listFlowRuns({ terminal, cwd, env }: Context, argument: string): Promise<void> {
  const [history, file] = [new RunHistory(farwharfHome(env)), resolve(cwd, argument)];
  const [records, removed] = [await history.list(file), await history.removed(file)];
  if (terminal.json({ runs: records.map((record) => ({ ...record, ...runStateWord(record) })), removed })) return;
  if (records.length === 0) terminal.note('No recorded runs of this file.');
  else answerTable(terminal, COLUMNS, records);
  if (removed > 0) terminal.note(`${formatCount(removed, 'older run')} removed. ${RETENTION}`);
}

/** `farwharf flow answer`: continues a run that waits for a person. JSON: the same as of `flow run`. */
export async function answerFlow(
  context: Context,
  id: string,
  { input: json, env: variables }: AnswerFlags,
): Promise<number> {
  const { terminal, outputSignal: signal, env, program } = context;
  const input = parseAnswerFlag(json);
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
  const exit = reportEnd(context, run);
  if (run.isStillWaiting)
    terminal.note(
      `Run ${record.id} still waits, because the node did not end with this answer. Fix the cause, then answer it again; finished tools are not repeated:  farwharf flow answer ${record.id} --input JSON`,
    );
  return exit;
}
