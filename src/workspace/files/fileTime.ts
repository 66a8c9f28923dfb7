/** When a file was last modified: seconds since 1970 as a decimal number with up to nine places, as a pax header has it. */
export type FileTime = string;

const NS_PER_SECOND = 1_000_000_000n;
const FILE_TIME = /^-?\d{1,11}(?:\.\d{1,9})?$/;

/** The time of `stat` with `bigint`, exactly. */
export function fileTimeOf({ mtimeNs }: { readonly mtimeNs: bigint }): FileTime {
  const rest = ((mtimeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  const seconds = (mtimeNs - rest) / NS_PER_SECOND;
  // A negative time counts back from 1970 with its fraction too.
  if (seconds < 0n && rest > 0n) return `-${fileTimeOf({ mtimeNs: -mtimeNs })}`;
  const places = rest === 0n ? '' : `.${String(rest).padStart(9, '0').replace(/0+$/, '')}`;
  return `${seconds}${places}`;
}

/** The time if a text is one. */
export function parseFileTime(text: string): FileTime | undefined {
  return FILE_TIME.test(text) ? text : undefined;
}

/** The time as a number of seconds, which is exact to a quarter of a microsecond: all that Node.js can set. */
export function secondsOf(time: FileTime): number {
  return Number(time);
}

/**
 * For each time the seconds that a file gets, none of them after `now`: a file from the future would seem to be newer than everything that
 * is made from it. Times after `now` become the moment before, in their order.
 *
 * @param now in seconds since 1970.
 */
export function presentTimes(times: readonly FileTime[], now: number): readonly number[] {
  const seconds = times.map(secondsOf);
  const future = [...new Set(seconds.filter((time) => time > now))].toSorted((a, b) => a - b);
  if (future.length === 0) return seconds;
  // One microsecond apart, because that is more than the resolution of a number of seconds.
  const present = new Map(future.map((time, index) => [time, now - (future.length - index) / 1e6]));
  return seconds.map((time) => present.get(time) ?? time);
}
