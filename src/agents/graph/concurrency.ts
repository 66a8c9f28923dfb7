import { checkOptions, requireWholeNumber } from '../schema/optionShape.ts';

/**
 * How many items or branches of a unit run at a time.
 *
 * @throws TypeError if the option is not a number, RangeError if it is neither a whole number of at least 1 nor Infinity.
 */
export function concurrencyOf(
  unit: { readonly name: string },
  options: { readonly concurrency?: number },
  otherwise: number,
): number {
  checkOptions(`new ${unit.constructor.name}`, options, { concurrency: 'number' });
  const { concurrency = otherwise } = options;
  if (concurrency !== Number.POSITIVE_INFINITY) requireWholeNumber(`concurrency of "${unit.name}"`, concurrency);
  return concurrency;
}
