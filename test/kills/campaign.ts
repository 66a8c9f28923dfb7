import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/core/errors.ts';
import { type Random, randomFrom } from '../random.ts';

// What earlier kills left is what later ones meet, but a fault should be found in a short story.
const KILLS_OF_A_LIFE = 20;

/** What one kill met. */
export interface Kill {
  /** Whether something was begun and not ended when the process was killed. */
  readonly isMidWrite: boolean;
}

/** A folder in which real processes work, are killed, and are started again on what they left. */
export interface Life extends AsyncDisposable {
  /** Kills what works once, at a moment of chance, and checks what is there after the next start. @throws on what must not be. */
  kill(): Promise<Kill>;
  /** Checks what can be seen only at the end. @throws on what must not be. */
  finish(): Promise<void>;
  /** What it has counted so far, by name, for the report. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** A place in which something is kept. */
export interface Place {
  readonly name: string;
  /** How many kills the test run makes; 1 if not given. */
  readonly sample?: number;
  /** Why there can be no kills on this machine, if so. */
  missing?(): string | undefined;
  begin(folder: string, random: Random): Promise<Life>;
}

export interface Violation {
  /** Of the life: with it as `--seed` and as many kills, the same is done again. */
  readonly seed: number;
  readonly kill: number;
  readonly folder: string;
  readonly error: unknown;
}

export interface Tally {
  readonly place: string;
  kills: number;
  midWrite: number;
  /** The sums of what its lives counted. */
  readonly counts: Record<string, number>;
  readonly violations: Violation[];
}

export interface CampaignOptions {
  readonly kills: number;
  /** Kill on until so many kills came while something was being written, up to ten times `kills`; 0 if not given. */
  readonly midWrite?: number;
  readonly seed: number;
  readonly onViolation?: (violation: Violation) => void;
}

/**
 * Kills the processes of one place so often. A life ends with its first violation, and what it left is kept; the next one begins
 * in an empty folder.
 *
 * @throws the error of a life that could not begin.
 */
export async function killIn(
  place: Place,
  { kills, midWrite = 0, seed, onViolation }: CampaignOptions,
): Promise<Tally> {
  const tally: Tally = { place: place.name, kills: 0, midWrite: 0, counts: {}, violations: [] };
  const isEnough = (): boolean => tally.kills >= kills && (tally.midWrite >= midWrite || tally.kills >= 10 * kills);
  for (let number = 0; !isEnough(); number += 1) {
    const folder = await realpath(await mkdtemp(join(tmpdir(), `farwharf-kills-${place.name}-`)));
    const first = tally.kills;
    const isOver = (): boolean => isEnough() || tally.kills - first >= KILLS_OF_A_LIFE;
    try {
      await live(place, { folder, seed: seed + number, isOver, tally });
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    } catch (error) {
      const violation = { seed: seed + number, kill: tally.kills - first, folder, error };
      tally.violations.push(violation);
      onViolation?.(violation);
      if (tally.kills === first) throw error; // nothing was killed, so that no other life would begin either
    }
  }
  return tally;
}

async function live(
  place: Place,
  { folder, seed, isOver, tally }: { folder: string; seed: number; isOver: () => boolean; tally: Tally },
): Promise<void> {
  await using life = await place.begin(folder, randomFrom(seed));
  try {
    while (!isOver()) {
      tally.kills += 1;
      const { isMidWrite } = await life.kill();
      if (isMidWrite) tally.midWrite += 1;
    }
    await life.finish();
  } finally {
    for (const [name, count] of Object.entries(life.counts ?? {}))
      tally.counts[name] = (tally.counts[name] ?? 0) + count;
  }
}

/** A line for each place, under a heading. */
export function tableOf(tallies: readonly Tally[]): string {
  const rows = tallies.map(({ place, kills, midWrite, violations }) => [place, kills, midWrite, violations.length]);
  const sum = (at: number): number => rows.reduce((total, row) => total + Number(row[at]), 0);
  const table = [['place', 'kills', 'mid-write', 'violations'], ...rows, ['all', sum(1), sum(2), sum(3)]];
  return table
    .map(([first, ...rest]) => `${String(first).padEnd(10)}${rest.map((cell) => String(cell).padStart(12)).join('')}`)
    .join('\n');
}

/** A line with what was counted in a place; undefined if nothing was. */
export function countsOf({ place, counts }: Tally): string | undefined {
  const counted = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return counted.length === 0 ? undefined : `${place}: ${counted.join(', ')}`;
}

/** How to see a violation again. */
export function describeViolation(place: string, { seed, kill, folder, error }: Violation): string {
  const again = `node scripts/killCampaign.ts --only ${place} --kills ${KILLS_OF_A_LIFE} --seed ${seed}`;
  const stack = error instanceof Error ? (error.stack ?? error.message) : messageOf(error);
  return `${place}: kill ${kill} of ${again}; what it left is in ${folder}\n${stack}`;
}
