/** @throws RangeError if the option is not a whole number of at least 1. */
export function requireWholeNumber(option: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new RangeError(`${option} is ${String(value)}; it must be a whole number of at least 1.`);
}
