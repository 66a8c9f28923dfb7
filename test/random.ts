/** How many times as long as usual random tests are: `FARWHARF_TEST_TIMES=50 node --test …`. */
export const TIMES = Number(process.env['FARWHARF_TEST_TIMES'] ?? 1);

/** Numbers from 0 to 1, the same for the same seed (mulberry32, Tommy Ettinger). */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the items, each as likely as the others; undefined where there is none. */
export function pick<T>(items: readonly T[], random: Random): T | undefined {
  return items[Math.floor(random() * items.length)];
}

/** Whole numbers from 0 to below a limit. */
export type Below = (limit: number) => number;

/** Whole numbers from the same generator. */
export function seeded(seed: number): Below {
  const random = randomFrom(seed);
  return (limit) => Math.floor(random() * limit);
}
