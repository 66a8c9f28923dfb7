import { requireWholeNumber } from '../schema/optionShape.ts';

/**
 * How many items or branches of a unit run at a time.
 *
 * @throws RangeError if it is neither a whole number of at least 1 nor Infinity.
 */
export function concurrencyOf(
  unit: { readonly name: string },
  options: { readonly concurrency?: number },
  otherwise: number,
): number {
  const { concurrency = otherwise } = options;
  if (concurrency !== Number.POSITIVE_INFINITY) requireWholeNumber(`concurrency of "${unit.name}"`, concurrency);
  return concurrency;
}
