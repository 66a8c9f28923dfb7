import * as z from 'zod';
import { scoreSchema } from './check.ts';

const caseResultSchema = z.object({
  line: z.number(),
  name: z.string(),
  /** What finds the same case in an earlier eval. */
  key: z.string(),
  isPassed: z.boolean(),
  /** The id of the run in the history of the flow file. */
  run: z.string(),
  /** Why the run did not end as it should. */
  error: z.string().optional(),
  /** By the names of the checks. */
  scores: z.record(z.string(), scoreSchema),
  /** US dollars by list price, of the run and of judges; absent if no call had a known price. */
  cost: z.number().optional(),
  tokens: z.number(),
  seconds: z.number(),
});

export const evalRecordSchema = z.object({
  version: z.literal(1),
  /** Sorts by time. */
  id: z.string(),
  /** Absolute paths. */
  file: z.string(),
  data: z.string(),
  startedAt: z.string(),
  seconds: z.number(),
  cases: z.array(caseResultSchema),
});

export type CaseResult = z.infer<typeof caseResultSchema>;

/** A flow that was run with all cases of a data set. */
export type EvalRecord = z.infer<typeof evalRecordSchema>;

/** The sums of an eval. */
export interface EvalTotals {
  readonly cases: number;
  readonly passed: number;
  /** US dollars; undefined if no call had a known price. */
  readonly cost: number | undefined;
  readonly tokens: number;
  readonly seconds: number;
}

export function totalsOf({ cases, seconds }: EvalRecord): EvalTotals {
  const costs = cases.flatMap(({ cost }) => cost ?? []);
  return {
    cases: cases.length,
    passed: cases.filter(({ isPassed }) => isPassed).length,
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
    tokens: cases.reduce((sum, { tokens }) => sum + tokens, 0),
    seconds,
  };
}

/** A score that differs from that in an earlier eval. */
export interface ScoreChange {
  readonly name: string;
  /** The name of the check. */
  readonly check: string;
  readonly before: number;
  readonly after: number;
}

/** The scores of the same cases that differ, in the order of the cases. */
export function evalChanges(before: EvalRecord, after: EvalRecord): readonly ScoreChange[] {
  const casesBefore = new Map(before.cases.map((each) => [each.key, each]));
  return after.cases.flatMap(({ key, name, scores }) =>
    Object.entries(scores).flatMap(([check, { score }]) => {
      const old = casesBefore.get(key)?.scores[check]?.score;
      return old === undefined || old === score ? [] : [{ name, check, before: old, after: score }];
    }),
  );
}
