import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { QUERY } from '../../src/service/slurm/clusterQueue.ts';
import { SlurmCluster, slurmIsMissing } from '../../scripts/slurm/cluster.ts';
import { median } from '../support/children.ts';
import type { Calibration } from './calibration.ts';
import { round } from './cpuMeter.ts';

const run = promisify(execFile);
const ALONE = 30;
const TOGETHER = 970;
// As the service does it.
const AT_ONCE = 4;
const ASKED = 15;
const TICKS_PER_SECOND = 100;

/** Measures a controller that has nothing else to do: a private cluster, whose jobs are all held. */
export async function measureSlurm(folder: string): Promise<Calibration['slurm']> {
  const missing = await slurmIsMissing();
  if (missing !== undefined) throw new Error(`The cost of Slurm cannot be measured here: ${missing}`);
  const cluster = await SlurmCluster.start(folder);
  try {
    const env = { ...process.env, ...cluster.env };
    const submit = () => run('sbatch', ['--parsable', '--hold', '--output=/dev/null', '--wrap', 'true'], { env });
    const ask = () => run('squeue', [...QUERY], { env, maxBuffer: 1e8 });
    const controller = controllerOf(folder);
    const empty = await measured(controller, ASKED, ask);
    const alone = await measured(controller, ALONE, submit);
    const startedAt = performance.now();
    let left = TOGETHER;
    const submitOn = async (): Promise<void> => {
      while (left-- > 0) await submit();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, submitOn));
    const sbatchPerSecond = TOGETHER / ((performance.now() - startedAt) / 1000);
    const full = await measured(controller, ASKED, ask);
    const jobs = ALONE + TOGETHER;
    return {
      sbatchMs: round(alone.ms),
      sbatchPerSecond: round(sbatchPerSecond),
      squeueMs: round(empty.ms),
      squeuePerJobMs: round(Math.max(0, full.ms - empty.ms) / jobs),
      controllerPerSbatchMs: round(alone.controllerMs),
      controllerPerSqueueMs: round(empty.controllerMs),
      controllerPerSqueueJobMs: round(Math.max(0, full.controllerMs - empty.controllerMs) / jobs),
    };
  } finally {
    await cluster.command('scancel', '--state=PENDING').catch(() => {});
    await cluster.stop();
  }
}

/** The median time of a call, and the controller's processor time for each. */
async function measured(controller: number, calls: number, call: () => Promise<unknown>) {
  const before = cpuMs(controller);
  const times: number[] = [];
  for (let index = 0; index < calls; index += 1) {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  }
  return { ms: median(times), controllerMs: (cpuMs(controller) - before) / calls };
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1000;
}

/** The process of the controller whose configuration lies in the folder. */
function controllerOf(folder: string): number {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      if (command.includes('slurmctld') && command.includes(folder)) return Number(name);
    } catch {
      // It has ended.
    }
  }
  throw new Error('There is no controller.');
}
