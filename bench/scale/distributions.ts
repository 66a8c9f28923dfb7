import type { Random } from '../../test/random.ts';

// Lublin and Feitelson, "The workload on parallel supercomputers", JPDC 63(11), 2003: the parameters that their program
// (Parallel Workloads Archive, m_lublin99.c) has for all jobs of its sites together.
const SHORT = { shape: 4.2, scale: 0.94 };
const LONG = { shape: 312, scale: 0.03 };
const SHORT_SHARE = 0.78;
const LONGEST = 12; // the logarithm of 45 hours
const DAY_SHAPE = 8.1737;
const DAY_SCALE = 3.9631;
const SLOTS = 48;
const DAY_STARTS_AT_SLOT = 11;

export function exponential(mean: number, random: Random): number {
  return -mean * Math.log(1 - random());
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Sizes that differ by orders of magnitude: half are below `median`. */
export function logNormal(median: number, sigma: number, random: Random): number {
  return median * Math.exp(sigma * normal(random));
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables", 2000; for shapes of 1 and more. */
function gamma(shape: number, scale: number, random: Random): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v * scale;
  }
}

/** Seconds that a job runs, by Lublin and Feitelson's model; `isShort` for one that is always of its short kind. */
export function runSeconds(random: Random, isShort: boolean): number {
  const { shape, scale } = isShort || random() < SHORT_SHARE ? SHORT : LONG;
  for (;;) {
    const logarithm = gamma(shape, scale, random);
    if (logarithm <= LONGEST) return Math.exp(logarithm);
  }
}

/** The part of a day's jobs that comes in each of its half hours, from midnight on, by the same model. */
export function dailyCycle(): readonly number[] {
  const density = (x: number): number => x ** (DAY_SHAPE - 1) * Math.exp(-x / DAY_SCALE);
  const slots = Array.from({ length: SLOTS }, () => 0);
  for (let i = DAY_STARTS_AT_SLOT; i < DAY_STARTS_AT_SLOT + SLOTS; i += 1) slots[i % SLOTS] = density(i + 0.5);
  const sum = slots.reduce((total, slot) => total + slot, 0);
  return slots.map((slot) => slot / sum);
}
