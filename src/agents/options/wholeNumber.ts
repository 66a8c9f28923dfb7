/**
 * How many items or branches of a unit run at a time.
 *
 * @throws RangeError if that is neither a whole number of at least 1 nor Infinity.
 */
export function concurrencyOf(name: string, concurrency: number): number {
  if (concurrency !== Number.POSITIVE_INFINITY) requireWholeNumber(`concurrency of "${name}"`, concurrency);
  return concurrency;
}

/** @throws RangeError if the option is not a whole number of at least 1. */
export function requireWholeNumber(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new RangeError(`${option} is ${String(value)}; it must be a whole number of at least 1.`);
}
