import { jsonSchemaIssues } from '../../../agents/schema/jsonSchemaCheck.ts';
import { stableJson } from '../../../agents/records/plainJson.ts';
import { messageOf } from '../../../core/errors.ts';
import { withinSecond } from '../../../core/text/patterns.ts';
import type { StateView } from '../protocol/stateView.ts';
import { type EvalCheck, checkName, type Score } from './check.ts';
import { finalValue } from './finalState.ts';
import { type AskJudge, judgeValue } from './judge.ts';

const MAX_SHOWN = 200;

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

const PASSED: Score = { score: 1, isPassed: true };

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
