import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../../core/processes/findProgram.ts';
import type { UsageEventData } from '../../../remote/protocol/schemas.ts';

const QUERY = ['--query-gpu=utilization.gpu,memory.used', '--format=csv,noheader,nounits'];
const TIMEOUT_MS = 10_000;
const MIN_PAUSE_MS = 5_000;
const MEBIBYTE = 2 ** 20;

type GpuUsage = Pick<UsageEventData, 'gpus' | 'gpu_memory_bytes'>;

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
