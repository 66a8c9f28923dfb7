import { randomUUID } from 'node:crypto';
import { AppError, messageOf } from '../../../core/errors.ts';
import { formatDuration } from '../../../core/text/format.ts';
import { describeRunEnd } from '../history/describeRun.ts';
import { type RecordedRun, type RecordedRunRequest, runRecorded } from '../history/recordedRun.ts';
import type { RunHistory } from '../history/runHistory.ts';
import type { FlowRuntime } from '../protocol/runRequest.ts';
import type { StateView, ViewLimits } from '../protocol/stateView.ts';
import type { EvalCase } from './dataSet.ts';
import type { CaseResult, EvalRecord } from './evalRecord.ts';
import { type AskJudge, judgeValue } from './judge.ts';
import { jsonSchemaIssues } from '../../../agents/schema/jsonSchemaCheck.ts';
import { stableJson } from '../../../agents/records/plainJson.ts';
import { withinSecond } from '../../../core/text/patterns.ts';
import { checkName, type EvalCheck, type Score } from './check.ts';
import { finalValue } from './finalState.ts';

// Scores need complete values, which the views of an editor may truncate.
const WHOLE: ViewLimits = { text: 500_000, items: 20_000, depth: 50, total: 2_000_000 };
const MAX_SHOWN = 200;
const PASSED: Score = { score: 1, isPassed: true };

/** Which flow to run, and how. */
export interface EvalRequest
  extends Pick<RecordedRunRequest, 'file' | 'flow' | 'flowName' | 'cwd' | 'env' | 'variables' | 'reach'> {
  /** The absolute path of the data set, and its cases. */
  readonly data: string;
  readonly cases: readonly EvalCase[];
  /** The maximum number of cases at a time. */
  readonly concurrency: number;
  /** The time limit of a case. */
  readonly maxSeconds: number;
}

export interface EvalOptions {
  readonly signal: AbortSignal;
  readonly ask: AskJudge;
  readonly onBegin?: (begun: EvalCase) => void;
  /** Called in the order in which cases end. */
  readonly onEnd?: (result: CaseResult) => void;
}

/**
 * Runs a flow file once for each case, as a run of its history, and scores the final states.
 *
 * @throws the signal's reason on abort, AppError `bad-input` if the file cannot run at all, and as `runRecorded` does. Runs in progress are
 * then stopped.
 */
export async function runEval(
  history: RunHistory,
  runtime: FlowRuntime,
  request: EvalRequest,
  options: EvalOptions,
): Promise<EvalRecord> {
  const startedAt = new Date();
  const began = performance.now();
  const { cases, concurrency } = request;
  const results: CaseResult[] = [];
  const broken = new AbortController();
  const signal = AbortSignal.any([options.signal, broken.signal]);
  const queue = cases.entries();
  const line = async (): Promise<void> => {
    for (const [index, each] of queue) {
      signal.throwIfAborted();
      options.onBegin?.(each);
      const result = await runCase(history, runtime, request, each, { ...options, signal });
      results[index] = result;
      options.onEnd?.(result);
    }
  };
  const lines = Array.from({ length: Math.min(concurrency, cases.length) }, line);
  try {
    await Promise.all(lines);
  } catch (error) {
    broken.abort(error);
    await Promise.allSettled(lines); // until their processes have ended
    throw error;
  }
  const id = `${startedAt.toISOString().replaceAll(/[-:.TZ]/g, '')}-${randomUUID().slice(0, 4)}`;
  const { file, data } = request;
  const seconds = (performance.now() - began) / 1000;
  return { version: 1, id, file, data, startedAt: startedAt.toISOString(), seconds, cases: results };
}

async function runCase(
  history: RunHistory,
  runtime: FlowRuntime,
  { data, cases: _cases, concurrency: _concurrency, maxSeconds, ...request }: EvalRequest,
  { line, name, key, shared, checks }: EvalCase,
  { signal, ask }: EvalOptions,
): Promise<CaseResult> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), maxSeconds * 1000);
  const began = performance.now();
  let run: RecordedRun;
  try {
    run = await runRecorded(
      history,
      runtime,
      { ...request, shared, viewLimits: WHOLE, evalCase: { data, line, name } },
      { signal: AbortSignal.any([signal, limit.signal]), onEvent: () => {} },
    );
  } finally {
    clearTimeout(timer);
  }
  signal.throwIfAborted();
  const { record, outcome } = run;
  if (outcome.type === 'refused') {
    await history.delete(request.file, record.id);
    throw new AppError('bad-input', `The flow ${describeRunEnd(record.outcome)}`);
  }
  const seconds = (performance.now() - began) / 1000;
  const isDone = outcome.type === 'done' && outcome.exitCode === 0;
  const error = isDone
    ? undefined
    : limit.signal.aborted
      ? `took longer than ${formatDuration(maxSeconds)}`
      : describeRunEnd(record.outcome);
  const state: StateView = outcome.type === 'done' ? outcome.shared : null;
  const scores = isDone ? Object.fromEntries(await scoreState(state, checks, { ask, signal })) : {};
  const judged = Object.values(scores).flatMap(({ cost }) => cost ?? []);
  const { usage } = record;
  const costs = [...(usage === undefined || usage.cost === 0 ? [] : [usage.cost]), ...judged];
  return {
    line,
    name,
    key,
    isPassed: isDone && Object.values(scores).every(({ isPassed }) => isPassed),
    run: record.id,
    ...(error !== undefined && { error }),
    scores,
    ...(costs.length > 0 && { cost: costs.reduce((sum, cost) => sum + cost, 0) }),
    tokens: usage === undefined ? 0 : usage.inputTokens + usage.outputTokens,
    seconds,
  };
}

/**
 * The scores of a final state by the names of the checks; several checks of one name have the score of the worst.
 *
 * @throws the signal's reason on abort. A judge that cannot be called results in a score of 0 with the reason.
 */
export async function scoreState(
  state: StateView,
  checks: readonly EvalCheck[],
  judging: { readonly ask: AskJudge; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, Score>> {
  const scores = new Map<string, Score>();
  for (const check of checks) {
    const name = checkName(check);
    const score = await scoreOf(state, check, judging);
    const earlier = scores.get(name);
    if (earlier === undefined || score.score < earlier.score) scores.set(name, score);
  }
  return scores;
}

async function scoreOf(
  state: StateView,
  check: EvalCheck,
  judging: { readonly ask: AskJudge; readonly signal: AbortSignal },
): Promise<Score> {
  const { key } = check;
  if (check.type === 'judge') {
    try {
      return await judgeValue(state, key, check.judge, judging);
    } catch (error) {
      judging.signal.throwIfAborted();
      return failed(`the judge model could not be called: ${messageOf(error)}`);
    }
  }
  const field = finalValue(state, key);
  if (!field.found) return failed(field.reason);
  const { value } = field;
  switch (check.type) {
    case 'exact': {
      const isEqual = check.isText ? textOf(value) === check.value : stableJson(value) === stableJson(check.value);
      return isEqual ? PASSED : failed(`expected ${shown(check.value)}, got ${shown(value)}`);
    }
    case 'matches': {
      const isMatch = withinSecond(() => new RegExp(check.pattern, 'u').test(textOf(value)));
      if (isMatch === undefined) return failed(`/${check.pattern}/ took longer than 1 s`);
      return isMatch ? PASSED : failed(`${shown(value)} does not match /${check.pattern}/`);
    }
    case 'schema': {
      const [issue] = jsonSchemaIssues(check.schema, value);
      return issue === undefined ? PASSED : failed(issue);
    }
    default:
      return check satisfies never;
  }
}

function failed(detail: string): Score {
  return { score: 0, isPassed: false, detail };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
