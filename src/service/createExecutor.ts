import type { Logger } from '../core/log.ts';
import { type ServiceConfig, slurmResourcesOf } from './config.ts';
import type { Executor } from './executor.ts';
import { createProcessExecutor } from './processExecutor.ts';
import { SlurmExecutor } from './slurm/slurmExecutor.ts';

export interface ExecutorOptions {
  /** Path of the built `jobRunner.mjs`, or of its source. */
  readonly runner: string;
  readonly killGraceMs: number;
  readonly log: Logger;
}

/** The executor that a configuration names. */
export function createExecutor(config: ServiceConfig, options: ExecutorOptions): Executor {
  const { runner, killGraceMs, log } = options;
  if (config.executor === 'process') {
    return createProcessExecutor({ runner, killGraceMs, capacity: config.process.max_jobs });
  }
  const { node = process.execPath, max_jobs: capacity, poll_seconds: seconds } = config.slurm;
  return new SlurmExecutor({
    program: { node, runner },
    resources: slurmResourcesOf(config),
    capacity,
    pollMs: seconds * 1000,
    log,
  });
}
