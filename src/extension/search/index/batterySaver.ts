import { type PowerSource, readPowerSource } from '../../../core/processes/powerSource.ts';
import { repeat } from '../../../core/processes/repeat.ts';
import type { SearchIndex } from './searchIndex.ts';

// Reading the power source starts a program on some systems, and a minute is soon enough to notice an unplugged charger.
const CHECK_EVERY_MS = 60_000;

/** Postpones large indexing work while this machine runs on battery, until the signal aborts. */
export function saveBattery(index: SearchIndex, signal: AbortSignal): Promise<void> {
  let reported: PowerSource = 'mains';
  const check = async (): Promise<void> => {
    const source = await readPowerSource();
    // Only changes are reported, so that work which a person resumed on battery continues.
    if (source !== reported) await index.setSavingEnergy(source === 'battery');
    reported = source;
  };
  return repeat(check, CHECK_EVERY_MS, signal);
}
