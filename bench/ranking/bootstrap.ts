const RESAMPLES = 2000;

/** The mean of values with its 95 % interval by bootstrap; the same in each run. */
export function interval(values: readonly number[]): {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
} {
  const mean = (own: readonly number[]): number => own.reduce((sum, value) => sum + value, 0) / Math.max(1, own.length);
  const random = generator();
  const means = Array.from({ length: RESAMPLES }, () =>
    mean(values.map(() => values[Math.floor(random() * values.length)] ?? 0)),
  ).sort((a, b) => a - b);
  return { mean: mean(values), low: means[RESAMPLES * 0.025] ?? 0, high: means[RESAMPLES * 0.975] ?? 0 };
}

/** The linear congruential generator of Numerical Recipes. */
function generator(): () => number {
  let state = 1;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}
