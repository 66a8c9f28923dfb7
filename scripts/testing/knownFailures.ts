/** A test that sometimes fails for a reason that nobody has found yet. */
interface KnownFailure {
  /** Path from the root of the project, such as `test/service/jobs.test.ts`. */
  readonly file: string;
  /** As in the report: the names of its suites and its own, joined by ` > `. */
  readonly title: string;
  /** What was observed, and what was tried. */
  readonly seen: string;
  /** Until when it must be understood: `YYYY-MM-DD`, at most two weeks ahead. */
  readonly until: string;
}

/**
 * The only failures that let a run pass. They run, are printed, and are counted in the last line. Unit tests must not be here.
 */
export const KNOWN_FAILURES: readonly KnownFailure[] = [];

const MAX_KNOWN_FAILURES = 10;
const MAX_DAYS = 14;
const DAY_MS = 86_400_000;

export function isKnownFailure(file: string, title: string, known = KNOWN_FAILURES): boolean {
  return known.some((failure) => failure.file === file && failure.title === title);
}

/** Returns why a list must not be used on a day, a sentence each. */
export function problemsOfKnownFailures(known: readonly KnownFailure[], today: Date): string[] {
  const problems = known.flatMap(({ file, title, seen, until }) => {
    const name = `${file}: ${title}`;
    const date = Date.parse(until);
    return [
      ...(/^test\/(service|host)\//.test(file) ? [] : [`${name} is neither a service test nor a window test.`]),
      ...(seen.trim() === '' ? [`${name} does not say what was seen.`] : []),
      ...(Number.isNaN(date) ? [`${name} has no valid date.`] : []),
      ...(date + DAY_MS <= today.getTime() ? [`${name} had to be understood by ${until}.`] : []),
      ...(date > today.getTime() + MAX_DAYS * DAY_MS ? [`${name} has more than ${MAX_DAYS} days.`] : []),
    ];
  });
  if (known.length > MAX_KNOWN_FAILURES) problems.push(`There are more than ${MAX_KNOWN_FAILURES} known failures.`);
  return problems;
}
