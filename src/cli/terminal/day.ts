/** Whether a text is a day of the calendar, written like 2027-01-31. A date that is none, like 2027-02-30, counts as March to Date. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
