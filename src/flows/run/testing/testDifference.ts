import type { ExpectedRun } from './flowTestFile.ts';
import { stateChanges, type StateChange, valueAt } from '../protocol/stateChange.ts';
import { formatCount } from '../../../core/text/format.ts';
import type { StateView } from '../protocol/stateView.ts';

const MAX_VALUE = 300;
const CONTEXT_LINES = 2;
const MAX_LINES = 20;

/** A difference from the test, as lines that start with `-` (expected), `+` (now) or a blank. */
export type TestDifference =
  | { readonly type: 'steps' | 'error'; readonly lines: readonly string[] }
  /** `key` is the path in the shared state: `report.createdAt`. */
  | { readonly type: 'state'; readonly key: string; readonly lines: readonly string[] };

/** All differences; none if the runs are as expected. */
export function differencesOf(
  expected: readonly ExpectedRun[],
  actual: readonly ExpectedRun[],
  ignore: readonly string[],
): readonly TestDifference[] {
  const length = Math.max(expected.length, actual.length);
  return Array.from({ length }, (_, index) => differencesOfRun(expected[index], actual[index], ignore)).flat();
}

function differencesOfRun(
  expected: ExpectedRun | undefined,
  actual: ExpectedRun | undefined,
  ignore: readonly string[],
): readonly TestDifference[] {
  const differences: TestDifference[] = [];
  const steps = lineDiff(expected?.steps ?? [], actual?.steps ?? []);
  if (steps.length > 0) differences.push({ type: 'steps', lines: steps });
  if (expected?.error !== actual?.error) {
    differences.push({
      type: 'error',
      lines: [`- ${expected?.error ?? 'no error'}`, `+ ${actual?.error ?? 'no error'}`],
    });
  }
  const before = expected?.shared ?? null;
  for (const change of stateChanges(before, actual?.shared ?? null)) {
    const key = keyOf(change);
    if (ignore.some((ignored) => key === ignored || key.startsWith(`${ignored}.`))) continue;
    const now = change.op === 'set' ? show(change.value) : 'not there';
    differences.push({ type: 'state', key, lines: [`- ${show(valueAt(before, change.path))}`, `+ ${now}`] });
  }
  return differences;
}

/** The lines that differ, the first twenty of each side, with two lines of context. */
function lineDiff(before: readonly string[], after: readonly string[]): readonly string[] {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  if (start === before.length && start === after.length) return [];
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...before.slice(Math.max(0, start - CONTEXT_LINES), start).map((line) => `  ${line}`),
    ...marked('-', before.slice(start, before.length - end)),
    ...marked('+', after.slice(start, after.length - end)),
    ...before.slice(before.length - end, before.length - end + CONTEXT_LINES).map((line) => `  ${line}`),
  ];
}

/** A loop that runs differently differs in thousands of steps. */
function marked(mark: '-' | '+', lines: readonly string[]): readonly string[] {
  const more = lines.length - MAX_LINES;
  const firstLines = lines.slice(0, MAX_LINES).map((line) => `${mark} ${line}`);
  return more > 0 ? [...firstLines, `${mark} … ${formatCount(more, 'step')} more`] : firstLines;
}

function keyOf({ path }: StateChange): string {
  return path.join('.');
}

function show(view: StateView | undefined): string {
  if (view === undefined) return 'not there';
  const text = JSON.stringify(view);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
