import { resolve } from 'node:path';
import { farwharfHome } from '../../core/files/home.ts';
import { formatCount, formatDollars, formatDuration } from '../../core/text/format.ts';
import { findChoice } from '../../flows/graph/flowChoice.ts';
import { readDataSet } from '../../flows/run/evals/dataSet.ts';
import {
  type CaseResult,
  evalChanges,
  type EvalRecord,
  type ScoreChange,
  totalsOf,
} from '../../flows/run/evals/evalRecord.ts';
import { runEval } from '../../flows/run/evals/evalRun.ts';
import { EvalStore } from '../../flows/run/evals/evalStore.ts';
import type { AskJudge } from '../../flows/run/evals/judge.ts';
import { RunHistory } from '../../flows/run/history/runHistory.ts';
import { runPrompt } from '../../flows/run/start/promptRun.ts';
import type { Context } from '../command/commandContext.ts';
import { EXIT } from '../command/exit.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import type { FlowEvalFlags } from './flowFlags.ts';
import { readIfFlow, readReachOf } from './flowFile.ts';
import { readableFile } from './flowRun.ts';

/**
 * `farwharf flow eval`: runs a flow with all cases of a data set and scores the results. JSON: `{ type: "case", … }` as each ends, and at the
 * end `{ type: "end", eval, cases, passed, changes, … }`.
 */
export async function evalFlow(context: Context, argument: string, flags: FlowEvalFlags): Promise<number> {
  const { terminal, outputSignal: signal, cwd, env, program } = context;
  const file = await readableFile(argument, cwd);
  const data = resolve(cwd, flags.data);
  const cases = await readDataSet(data);
  const home = farwharfHome(env);
  const store = new EvalStore(home);
  const { against, flow } = flags;
  const before = against === undefined ? await store.latest(file, data) : await store.find(file, against);
  const read = readIfFlow(file);
  let ended = 0;
  const record = await runEval(
    new RunHistory(home),
    program.flowRuntime,
    {
      file,
      ...(flow !== undefined && findChoice({ flows: read?.flows ?? [] }, flow)),
      cwd,
      env,
      variables: flags.env,
      reach: read && (await readReachOf(file)),
      data,
      cases,
      concurrency: flags.concurrency,
      maxSeconds: flags.timeout,
    },
    {
      signal,
      ask: askModel,
      onEnd: (result) => {
        ended += 1;
        terminal.json({ type: 'case', ...result });
        terminal.note(`${ended}/${cases.length} ${result.isPassed ? '✔' : '✖'} ${result.name}`);
      },
    },
  );
  await store.add(record);
  const changes = before === undefined ? [] : evalChanges(before, record);
  const totals = totalsOf(record);
  terminal.json({ type: 'end', eval: record.id, ...totals, changes, ...(before && { against: before.id }) });
  if (!terminal.isJson) report(context, record, changes);
  terminal.note(describeTotals(record, before));
  return totals.passed * 100 >= flags.min * totals.cases ? EXIT.done : EXIT.failed;
}

const askModel: AskJudge = async (messages, model, signal) => {
  const { reply, call } = await runPrompt(model, messages, { signal });
  return { reply, cost: call?.estimatedCost };
};

/** The table of cases and scores, and why cases failed. */
function report({ terminal }: Context, { cases }: EvalRecord, changes: readonly ScoreChange[]): void {
  const checks = [...new Set(cases.flatMap(({ scores }) => Object.keys(scores)))];
  const cellOf = ({ name, scores }: CaseResult, check: string): string => {
    const score = scores[check];
    if (score === undefined) return '';
    const change = changes.find((each) => each.name === name && each.check === check);
    const mark = change === undefined ? '' : change.after > change.before ? ' ↑' : ' ↓';
    return `${score.isPassed ? '✔' : '✖'}${isShare(score.score) ? ` ${score.score.toFixed(2)}` : ''}${mark}`;
  };
  const columns: RecordColumn<CaseResult>[] = [
    { title: 'CASE', cell: ({ name, isPassed }) => `${isPassed ? '✔' : '✖'} ${name}`, minWidth: 8 },
    ...checks.map((check) => ({ title: check, cell: (result: CaseResult) => cellOf(result, check) })),
    {
      title: 'COST',
      cell: ({ cost }) => (cost === undefined ? '' : formatDollars(cost)),
      align: 'right',
      dropOrder: 2,
    },
    { title: 'TIME', cell: ({ seconds }) => formatDuration(seconds), align: 'right', dropOrder: 1 },
  ];
  answerTable(terminal, columns, cases);
  for (const { name, error, scores, isPassed, run } of cases) {
    if (isPassed) continue;
    terminal.answer(`✖ ${name} · run ${run}`);
    if (error !== undefined) terminal.answer(`    ${error}`);
    for (const [check, score] of Object.entries(scores)) {
      if (!score.isPassed) terminal.answer(`    ${check}: ${score.detail ?? 'failed'}`);
    }
  }
}

function isShare(score: number): boolean {
  return score > 0 && score < 1;
}

/** `8 of 10 cases passed (9 before), $0.0123 ($0.0100 before), 12 s · eval ID`. */
function describeTotals(record: EvalRecord, before: EvalRecord | undefined): string {
  const now = totalsOf(record);
  const old = before && totalsOf(before);
  const was = (text: string | undefined): string => (text === undefined ? '' : ` (${text} before)`);
  const parts = [
    `${now.passed} of ${formatCount(now.cases, 'case')} passed${was(old && `${old.passed} of ${old.cases}`)}`,
    ...(now.cost === undefined
      ? []
      : [`${formatDollars(now.cost)}${was(old?.cost === undefined ? undefined : formatDollars(old.cost))}`]),
    `${formatDuration(now.seconds)}${was(old && formatDuration(old.seconds))}`,
  ];
  return `${parts.join(', ')} · eval ${record.id}`;
}
