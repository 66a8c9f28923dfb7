import { join } from 'node:path';
import type { SlurmCluster } from '../slurm/cluster.ts';
import { Load } from './load.ts';
import { randomFrom } from '../../test/random.ts';
import { Site } from './site.ts';
import { type Killed, storm } from './storm.ts';
import { judge, type Verdict } from './verdict.ts';
import { Witness } from './witness.ts';

const KILLS_PER_HARM = 12;
const LOAD = { senders: 3, readers: 4, pauseMs: 1_000, maxUnfinished: 30 };
const PRICE = { credits_per_minute: 0.01, memory_gb: 0.25 };

interface SiteFolders {
  readonly folder: string;
  /** The command line tool that has `serve`. */
  readonly program: string;
  readonly credits?: number;
}

export interface StormSite {
  readonly site: Site;
  readonly machineClasses: readonly string[];
  readonly cluster?: SlurmCluster;
}

export interface StormRun extends StormSite {
  readonly minutes: number;
  readonly kills: number;
  readonly seed: number;
}

export interface StormReport {
  readonly name: string;
  readonly killed: Killed;
  readonly load: Load;
  readonly verdict: Verdict;
}

/** A service that runs jobs as processes of this machine. */
export function processSite(folders: SiteFolders): StormSite {
  const config = { process: { max_jobs: 6 }, machine_classes: [{ ...PRICE, name: 'cpu' }] };
  return { site: new Site({ ...folders, name: 'process', config }), machineClasses: ['cpu'] };
}

/** A service that runs jobs on a cluster. */
export function slurmSite(folders: SiteFolders, cluster: SlurmCluster): StormSite {
  const data = join(cluster.privateFolder, 'service');
  const files = join(cluster.sharedFolder, 'service');
  const config = {
    executor: 'slurm',
    slurm: { poll_seconds: 0.5, folder: files },
    machine_classes: ['small', 'large'].map((name) => ({ ...PRICE, name, partition: `cpu-${name}` })),
  };
  const site = new Site({ ...folders, name: 'slurm', config, data, files, env: cluster.env });
  return { site, machineClasses: ['small', 'large'], cluster };
}

/** Puts a service under load, kills it again and again, and judges what is left. */
export async function runStorm({
  site,
  machineClasses,
  cluster,
  minutes,
  kills,
  seed,
}: StormRun): Promise<StormReport> {
  await using witness = await Witness.start();
  const random = randomFrom(seed);
  const load = new Load({ ...LOAD, site, witness, machineClasses, random: randomFrom(seed + 1_000) });
  const options = { site, load, random, kills, minutes, killsPerHarm: KILLS_PER_HARM };
  try {
    const killed = await storm({ ...options, ...(cluster && { cluster }) });
    const verdict = await judge(site, load, witness, new AbortController().signal);
    return { name: site.name, killed, load, verdict };
  } finally {
    await site.end('SIGKILL').catch(() => {}); // it ended by itself, which the caller is about to learn
  }
}
