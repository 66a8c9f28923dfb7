import { setTimeout as sleep } from 'node:timers/promises';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Confinement } from '../../jobFiles/confinement.ts';
import type { UsageEventData } from '../../../remote/protocol/schemas.ts';
import { UsageMeter } from './usageMeter.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';
import { readText } from '../../../core/processes/procfs.ts';
import { amdGpus, type Gpu } from '../../placement/gpus.ts';

// Jobs that are shorter have no reports.
const FIRST_PERIOD_MS = 2_000;
const REPORTS_PER_PERIOD = 60;
// Memory is measured more often than reported, to find its peak.
const MAX_LOOK_MS = 5_000;
// Half of what sampling may cost: 1 % of a core.
const COST_SHARE = 1 / 200;
// A timer may fire a moment early.
const TIMER_MS = 10;
const QUERY = ['--query-gpu=index,utilization.gpu,memory.used', '--format=csv,noheader,nounits'];
const TIMEOUT_MS = 10_000;
const MIN_PAUSE_MS = 5_000;
const MEBIBYTE = 2 ** 20;

type GpuUsage = Pick<UsageEventData, 'gpus' | 'gpu_memory_bytes' | 'gpu_devices'>;

/** The time that the next report covers. It doubles every 60 reports, so that 30 days, the longest time limit, have fewer than 1,000. */
export function reportPeriodMs(reports: number): number {
  return FIRST_PERIOD_MS * 2 ** Math.floor(reports / REPORTS_PER_PERIOD);
}

/**
 * Reports what a job uses until the signal aborts: every two seconds at first, and less and less often. Sampling pauses in proportion
 * to the time that it took, so it stays below 1 % of a core, however many processes a job has. Only on Linux.
 *
 * @param roots returns the job's first process, which has just started, and others whose descendants count as the job's.
 * @param confinement with the job's control group and its own GPUs, if it has them.
 */
export async function sampleUsage(
  roots: () => readonly number[],
  confinement: Pick<Confinement, 'cgroup' | 'gpus'> | undefined,
  report: (usage: UsageEventData) => void,
  signal: AbortSignal,
): Promise<void> {
  if (process.platform !== 'linux') return;
  const now = (): number => performance.now();
  const meter = new UsageMeter(roots, confinement?.cgroup ?? null, now());
  const gpus = new GpuMeter({ env: process.env, costShare: COST_SHARE, own: confinement?.gpus?.ids });
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

export interface GpuMeterOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The part of a core that `nvidia-smi` may use. */
  readonly costShare: number;
  /** The GPUs that are reserved for the job, by number or UUID. */
  readonly own?: readonly string[] | undefined;
  /** Where AMD's driver measures. */
  readonly sys?: string;
}

/**
 * Measures the job's own GPUs, or else those of NVIDIA in `CUDA_VISIBLE_DEVICES` and all of AMD. NVIDIA's are measured by `nvidia-smi`, AMD's
 * by their driver, in files. Other programs that use the same GPUs are included.
 */
export class GpuMeter {
  readonly #program: string | undefined;
  readonly #options: readonly string[];
  readonly #amd: readonly AmdDevice[];
  readonly #costShare: number;
  #latest: GpuUsage = {};
  #next = 0;

  constructor({ env, costShare, own, sys = '/sys' }: GpuMeterOptions) {
    const program = findProgram('nvidia-smi', env['PATH'] ?? '');
    // Numbers are those of NVIDIA's where there are some.
    const namesOf = ({ id, index }: Pick<Gpu, 'id' | 'index'>): readonly string[] =>
      program === undefined ? [id, index] : [id];
    const isOwn = (device: Pick<Gpu, 'id' | 'index'>): boolean =>
      own === undefined || namesOf(device).some((name) => own.includes(name));
    const amd = amdGpus(sys).filter(isOwn);
    this.#amd = amd.map(({ id, index, render }) => ({ id, index, folder: join(sys, 'class/drm', render, 'device') }));
    const others = own?.filter((name) => !amd.some((device) => namesOf(device).includes(name)));
    this.#program = others?.length === 0 ? undefined : program;
    const visible = others?.join(',') ?? env['CUDA_VISIBLE_DEVICES'];
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
    if ((this.#program === undefined && this.#amd.length === 0) || started < this.#next) return;
    this.#next = Number.POSITIVE_INFINITY;
    const nvidia = this.#program === undefined ? [] : await askNvidia(this.#program, this.#options, signal);
    this.#latest = usageOf([...nvidia, ...this.#amd.flatMap(readAmd)]);
    this.#next = now() + Math.max(MIN_PAUSE_MS, (now() - started) / this.#costShare);
  }
}

interface AmdDevice extends Pick<Gpu, 'id' | 'index'> {
  readonly folder: string;
}

type DeviceUsage = NonNullable<UsageEventData['gpu_devices']>[number];

/** Lines like `0, 93, 20480`: its number, per cent and mebibytes. A GPU that does not measure them says `[N/A]`. */
async function askNvidia(
  program: string,
  options: readonly string[],
  signal: AbortSignal,
): Promise<readonly DeviceUsage[]> {
  const answer = await promisify(execFile)(program, options, { timeout: TIMEOUT_MS, signal }).catch(() => undefined);
  return [...(answer?.stdout ?? '').matchAll(/^\s*(\d+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*$/gm)].map(
    ([, gpu = '', used, memory]) => ({
      gpu,
      used: Number(used) / 100,
      memory_bytes: Math.round(Number(memory) * MEBIBYTE),
    }),
  );
}

/** Per cent and bytes, in a file each (the kernel's `Documentation/gpu/amdgpu/thermal.rst` and `driver-misc.rst`). */
function readAmd({ index, folder }: AmdDevice): readonly DeviceUsage[] {
  const [used, memory] = ['gpu_busy_percent', 'mem_info_vram_used'].map((name) => readText(join(folder, name)).trim());
  if (!used || !memory) return [];
  return [{ gpu: index, used: Number(used) / 100, memory_bytes: Number(memory) }];
}

function usageOf(devices: readonly DeviceUsage[]): GpuUsage {
  if (devices.length === 0) return {};
  return {
    gpus: Number(devices.reduce((sum, { used }) => sum + used, 0).toFixed(3)),
    gpu_memory_bytes: devices.reduce((sum, { memory_bytes: bytes }) => sum + bytes, 0),
    ...(devices.length > 1 && { gpu_devices: [...devices] }),
  };
}
