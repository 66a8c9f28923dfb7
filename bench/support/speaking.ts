import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 5;
const WARM_UP_SECONDS = 3;

export interface SpeakTask {
  /** Events in a second. */
  readonly rate: number;
  /** How long is measured, after some seconds that are not. */
  readonly seconds: number;
}

type Phase = 'warm' | 'measured';

/** A line of output that tells when it was made, and whether its delay counts. */
export function spokenText(turn: number, phase: Phase): string {
  return `${Date.now()} ${phase} step ${turn} loss ${(1 / (turn + 1)).toFixed(6)}\n`;
}

/** Calls at a steady rate, and gives how many calls were measured. */
export async function paced({ rate, seconds }: SpeakTask, call: (turn: number, phase: Phase) => void): Promise<number> {
  const startedAt = performance.now();
  let measured = 0;
  for (let turn = 0; ; await sleep(TICK_MS)) {
    const elapsed = (performance.now() - startedAt) / 1000;
    if (elapsed > WARM_UP_SECONDS + seconds) return measured;
    const phase = elapsed < WARM_UP_SECONDS ? 'warm' : 'measured';
    for (; turn < elapsed * rate; turn += 1) {
      call(turn, phase);
      if (phase === 'measured') measured += 1;
    }
  }
}
