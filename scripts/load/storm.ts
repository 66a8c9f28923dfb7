import { setTimeout as sleep } from 'node:timers/promises';
import { systemCode } from '../../src/core/errors.ts';
import type { SlurmCluster } from '../slurm/cluster.ts';
import type { Load, SentJob } from './load.ts';
import { parentOf, runnersOf } from './processes.ts';
import { pick, type Random } from '../../test/random.ts';
import type { Site } from './site.ts';

const NODES = ['small1', 'small2', 'large1'];
const LONGEST_OUTAGE_MS = 3_000;
const LOOK_AFTER_MS = 1_000;
// A submission takes a few milliseconds, which an instant chosen blindly would hardly meet.
const AIMED = 0.5;
const AIM_WITHIN_MS = 40;
const AIM_TIMEOUT_MS = 1_000;

export interface StormOptions {
  readonly site: Site;
  readonly load: Load;
  readonly random: Random;
  readonly kills: number;
  readonly minutes: number;
  /** On how many kills of the service comes one of something else: a job's runner, a node's step, a daemon of the cluster. */
  readonly killsPerHarm: number;
  readonly cluster?: SlurmCluster;
}

/** What was killed, by kind, and how often. */
export type Killed = ReadonlyMap<string, number>;

/**
 * Kills a service under load at random instants, also while it starts, and now and then what its jobs run in. In the end a
 * service runs without being killed.
 */
export async function storm({
  site,
  load,
  random,
  kills,
  minutes,
  killsPerHarm,
  cluster,
}: StormOptions): Promise<Killed> {
  const killed = new Map<string, number>();
  const count = (what: string): void => void killed.set(what, (killed.get(what) ?? 0) + 1);
  const end = new AbortController();
  const running = load.run(end.signal);
  const care = cluster === undefined ? Promise.resolve() : lookAfter(cluster, end.signal);
  const deadline = performance.now() + minutes * 60_000;
  const harms: Promise<unknown>[] = [];
  const down = new Set<string>();
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      site.start();
      const remainingMs = Math.max(0, deadline - performance.now());
      await sleep(random() * 2 * (remainingMs / (kills - kill)));
      if (random() < AIMED) await aim(load, random);
      await site.end('SIGKILL');
      count('service');
      if (random() * killsPerHarm >= 1) continue;
      const harm = harmSomething({ site, load, random, cluster, down }).then(
        (what) => what !== undefined && count(what),
      );
      harm.catch(() => {}); // waited for below, after what it may have broken was ended
      harms.push(harm);
    }
    site.start();
  } finally {
    end.abort();
    await Promise.all([running, care, ...harms]);
  }
  return killed;
}

/** Waits for an instant of the next submission. */
async function aim(load: Load, random: Random): Promise<void> {
  await Promise.race([load.nextSubmission, sleep(AIM_TIMEOUT_MS)]);
  await sleep(random() * AIM_WITHIN_MS);
}

interface Target {
  readonly site: Site;
  readonly load: Load;
  readonly random: Random;
  readonly cluster: SlurmCluster | undefined;
  /** Daemons that were killed and not started again yet. */
  readonly down: Set<string>;
}

/** Returns what was killed; undefined if there was nothing to kill. */
async function harmSomething({ site, load, random, cluster, down }: Target): Promise<string | undefined> {
  const wish = cluster === undefined ? 'runner' : pick(['runner', 'step', 'controller', 'node'], random);
  if (cluster !== undefined && (wish === 'controller' || wish === 'node')) {
    const daemon = wish === 'controller' ? 'slurmctld' : `slurmd.${pick(NODES, random)}`;
    if (down.has(daemon)) return undefined;
    down.add(daemon);
    await cluster.kill(daemon);
    await sleep(random() * LONGEST_OUTAGE_MS);
    cluster.restart(daemon);
    down.delete(daemon);
    return daemon === 'slurmctld' ? daemon : 'slurmd';
  }
  const victims = [...runnersOf(site.files)].flatMap(([id, pid]): [SentJob, number][] => {
    const job = load.accepted.get(id);
    return job === undefined ? [] : [[job, pid]];
  });
  const [job, runner] = pick(victims, random) ?? [];
  const pid = wish === 'step' && runner !== undefined ? parentOf(runner) : runner;
  if (job === undefined || pid === undefined || pid <= 1) return undefined;
  job.isHarmed = true;
  try {
    process.kill(pid, 'SIGKILL');
    return wish;
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
    return undefined; // it has just ended
  }
}

/** An administrator who resumes nodes that a crash of the controller drained. */
async function lookAfter(cluster: SlurmCluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(LOOK_AFTER_MS, undefined, { signal }).catch(() => {});
    await cluster.untilReady().catch(() => {});
  }
}
