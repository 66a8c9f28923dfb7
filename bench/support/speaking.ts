import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 5;
const WARM_UP_SECONDS = 3;

export interface SpeakTask {
  /** Events in a second. */
  readonly rate: number;
  /** How long is measured, after some seconds that are not. */
  readonly seconds: number;
  /** A word that distinguishes the lines of one measurement from those of another. */
  readonly label: string;
}

/** A line of output with the time at which it was written, and the measurement that it is for. */
export function spokenText(turn: number, label: string): string {
  return `${Date.now()} ${label} step ${turn} loss ${(1 / (turn + 1)).toFixed(6)}\n`;
}

/** Calls at a steady rate, and returns how many calls were measured. */
export async function paced(
  { rate, seconds, label }: SpeakTask,
  call: (turn: number, label: string) => void,
): Promise<number> {
  const startedAt = performance.now();
  let measured = 0;
  for (let turn = 0; ; await sleep(TICK_MS)) {
    const elapsed = (performance.now() - startedAt) / 1000;
    if (elapsed > WARM_UP_SECONDS + seconds) return measured;
    const isWarm = elapsed >= WARM_UP_SECONDS;
    for (; turn < elapsed * rate; turn += 1) {
      call(turn, isWarm ? label : 'warm-up');
      if (isWarm) measured += 1;
    }
  }
}
