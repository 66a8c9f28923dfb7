import { LIMITS, SITE } from './assumptions.ts';
import type { Calibration } from './calibration.ts';
import type { Design } from './design.ts';
import type { Front } from './front.ts';
import type { Site } from './site.ts';

const HOUR_MS = 3_600_000;
const DAYS = 30;
/** From this share on a resource is taken for full: the rest is needed for what comes in bursts. */
export const FULL = 0.9;

export interface Resource {
  readonly name: string;
  /** Of what there is, in the busiest hour or at the worst moment; above 1 where there is not enough. */
  readonly share: number;
}

/** The use of each limited resource in a simulated day, except the slots of the cluster. */
export function resourcesOf(site: Site, { store, process }: Calibration, design: Design): readonly Resource[] {
  const perSecond = (hours: { readonly highest: number }): number => hours.highest / 3600;
  const written = site.diskBytes.highest / 3600 + storeBytes(site, { store }) / 86_400;
  const keptBytes = storeBytes(site, { store }) + (design.areBytesElsewhere ? 0 : site.resultBytes);
  const files = process.restFiles + site.mostReaders + site.mostWindows;
  const most = (share: (front: Front) => number): number => Math.max(...site.fronts.map(share));
  const unfinished = LIMITS.unfinishedJobs * design.fronts;
  return [
    { name: design.fronts > 1 ? 'event loop, of each' : 'event loop', share: loopShare(site) },
    { name: 'other threads', share: most(({ threadsMs }) => threadsMs.highest / HOUR_MS / (SITE.cores - 1)) },
    ...(design.isShared ? [{ name: 'database', share: site.databaseMs.highest / HOUR_MS / SITE.cores }] : []),
    { name: 'calls of sbatch', share: most(({ submits }) => submits.highestShare) },
    { name: "Slurm's controller", share: site.controllerMs.highest / HOUR_MS },
    {
      name: `unfinished jobs (${unfinished})`,
      share: site.overload === 'unfinished' ? Number.POSITIVE_INFINITY : site.mostUnfinished / unfinished,
    },
    { name: 'network', share: perSecond(site.linkBytes) / SITE.linkBytesPerSecond },
    { name: 'disk, writes', share: written / SITE.diskBytesPerSecond },
    { name: `disk, ${DAYS} days`, share: (DAYS * keptBytes) / SITE.diskBytes },
    { name: `open files (${SITE.openFiles})`, share: files / SITE.openFiles },
  ];
}

/** Of the event loop that has most to do; infinite where that is more than it can do. */
export function loopShare({ fronts, overload }: Site): number {
  return overload === 'loop' ? Number.POSITIVE_INFINITY : Math.max(...fronts.map(({ loop }) => loop.highestShare));
}

/** Bytes that a day adds to the store. */
export function storeBytes(site: Site, { store }: Pick<Calibration, 'store'>): number {
  return site.jobs * store.bytesPerJob + site.events * (store.bytesPerEvent + SITE.outputBytes);
}

export function clusterShare(site: Site): number {
  return site.clusterMs.highest / HOUR_MS;
}
