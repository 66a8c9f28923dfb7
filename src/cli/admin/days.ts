const MS_OF_UNIT: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

/** Whether a text is a valid day such as 2027-01-31. `Date` alone would read 2027-02-30 as a day in March. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Milliseconds of a period such as `12h` or `90d`; undefined for any other text. */
export function periodMs(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  const span = MS_OF_UNIT[unit];
  return span === undefined ? undefined : Number(count) * span;
}
