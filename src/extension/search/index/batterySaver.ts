import { setTimeout as sleep } from 'node:timers/promises';
import { isAbort } from '../../../core/errors.ts';
import { type PowerSource, readPowerSource } from '../../../core/processes/powerSource.ts';
import type { SearchIndex } from './searchIndex.ts';

// Asking starts a program on some systems; a plug that was pulled is noticed soon enough.
const LOOK_EVERY_MS = 60_000;

/** Lets large work of the index wait while this machine runs on battery, until the signal aborts. */
export async function saveBattery(index: SearchIndex, signal: AbortSignal): Promise<void> {
  let known: PowerSource = 'mains';
  try {
    for (;;) {
      const source = await readPowerSource();
      // Told when it changes alone: what a person resumed goes on.
      if (source !== known) await index.setSavingEnergy(source === 'battery');
      known = source;
      await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false });
    }
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}
