import { setTimeout as sleep } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { JobCgroup } from '../../cgroups/jobCgroup.ts';
import type { UsageEventData } from '../../../remote/protocol/schemas.ts';
import { UsageMeter } from './usageMeter.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';

// Jobs that are shorter have no reports.
const FIRST_PERIOD_MS = 2_000;
const REPORTS_PER_PERIOD = 60;
// Memory is measured more often than reported, to find its peak.
const MAX_LOOK_MS = 5_000;
// Half of what sampling may cost: 1 % of a core.
const COST_SHARE = 1 / 200;
// A timer may fire a moment early.
const TIMER_MS = 10;
const QUERY = ['--query-gpu=utilization.gpu,memory.used', '--format=csv,noheader,nounits'];
const TIMEOUT_MS = 10_000;
const MIN_PAUSE_MS = 5_000;
const MEBIBYTE = 2 ** 20;

type GpuUsage = Pick<UsageEventData, 'gpus' | 'gpu_memory_bytes'>;

/** The time that the next report covers. It doubles every 60 reports, so that 30 days, the longest time limit, have fewer than 1,000. */
export function reportPeriodMs(reports: number): number {
  return FIRST_PERIOD_MS * 2 ** Math.floor(reports / REPORTS_PER_PERIOD);
}

/**
 * Reports what a job uses until the signal aborts: every two seconds at first, and less and less often. Sampling pauses in proportion
 * to the time that it took, so it stays below 1 % of a core, however many processes a job has. Only on Linux.
 *
 * @param root the job's first process, which has just started.
 * @param cgroup the job's control group, if it has one.
 */
export async function sampleUsage(
  root: number,
  cgroup: JobCgroup | null,
  report: (usage: UsageEventData) => void,
  signal: AbortSignal,
): Promise<void> {
  if (process.platform !== 'linux') return;
  const now = (): number => performance.now();
  const meter = new UsageMeter(root, cgroup, now());
  const gpus = new GpuMeter(process.env, COST_SHARE);
  const send = (): void => report({ at: new Date().toISOString(), ...meter.take(), ...gpus.latest });
  let reports = 0;
  while (!signal.aborted) {
    void gpus.look(now, signal);
    const before = process.cpuUsage();
    meter.look(now());
    const periodMs = reportPeriodMs(reports);
    if (meter.elapsedMs >= periodMs - TIMER_MS) {
      send();
      reports += 1;
    }
    const { user, system } = process.cpuUsage(before);
    const costMs = (user + system) / 1000;
    const lookMs = Math.max(Math.min(periodMs / 2, MAX_LOOK_MS), costMs / COST_SHARE);
    await sleep(lookMs, undefined, { signal, ref: false }).catch(() => {});
  }
  // The end of a long job, where its memory may be the highest.
  if (reports > 0 && meter.elapsedMs > 0) send();
}

/**
 * Queries `nvidia-smi`, if the machine has it, for the job's GPUs (`CUDA_VISIBLE_DEVICES`), or about all of them. Other programs that
 * use the same GPUs are included.
 */
export class GpuMeter {
  readonly #program: string | undefined;
  readonly #options: readonly string[];
  readonly #costShare: number;
  #latest: GpuUsage = {};
  #next = 0;

  /** @param costShare the part of a core that the program may use. */
  constructor(env: NodeJS.ProcessEnv, costShare: number) {
    this.#program = findProgram('nvidia-smi', env['PATH'] ?? '');
    const visible = env['CUDA_VISIBLE_DEVICES'];
    this.#options = visible ? ['-i', visible, ...QUERY] : QUERY;
    this.#costShare = costShare;
  }

  /** The last measurement; without fields while there is none. */
  get latest(): GpuUsage {
    return this.#latest;
  }

  /** Measures, unless the last measurement was too slow to repeat it now. */
  async look(now: () => number, signal: AbortSignal): Promise<void> {
    const started = now();
    if (this.#program === undefined || started < this.#next) return;
    this.#next = Number.POSITIVE_INFINITY;
    this.#latest = await promisify(execFile)(this.#program, this.#options, { timeout: TIMEOUT_MS, signal })
      .then(({ stdout }) => readAnswer(stdout))
      .catch(() => ({}));
    this.#next = now() + Math.max(MIN_PAUSE_MS, (now() - started) / this.#costShare);
  }
}

/** Lines like `93, 20480`: per cent and mebibytes. A GPU that does not measure them says `[N/A]`. */
function readAnswer(answer: string): GpuUsage {
  const lines = [...answer.matchAll(/^\s*([\d.]+)\s*,\s*([\d.]+)\s*$/gm)];
  if (lines.length === 0) return {};
  const sum = (column: 1 | 2): number => lines.reduce((total, line) => total + Number(line[column]), 0);
  return { gpus: Number((sum(1) / 100).toFixed(3)), gpu_memory_bytes: Math.round(sum(2) * MEBIBYTE) };
}
