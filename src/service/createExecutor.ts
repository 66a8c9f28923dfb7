import type { Logger } from '../core/log.ts';
import { type ServiceConfig, slurmResourcesOf } from './config/config.ts';
import type { Executor } from './executor.ts';
import { describeClusterJobs, describeIsolation, findIsolation } from './process/isolation.ts';
import type { MachineClasses } from './config/machineClasses.ts';
import { createProcessExecutor } from './process/processExecutor.ts';
import { SlurmExecutor } from './slurm/slurmExecutor.ts';

export interface ExecutorOptions {
  /** Path of the built `jobRunner.mjs`, or of its source. */
  readonly runner: string;
  readonly killGraceMs: number;
  readonly machineClasses: MachineClasses;
  /** The service's data folder. */
  readonly data: string;
  readonly log: Logger;
}

/** The executor that a configuration names. @throws AppError of `findIsolation`. */
export async function createExecutor(config: ServiceConfig, options: ExecutorOptions): Promise<Executor> {
  const { runner, killGraceMs, machineClasses, data, log } = options;
  if (config.executor === 'process') {
    const isolation = await findIsolation(config, data);
    log.info(describeIsolation(isolation));
    return createProcessExecutor({ runner, killGraceMs, settings: config.process, isolation, machineClasses });
  }
  log.info(describeClusterJobs());
  const {
    node = process.execPath,
    max_jobs: capacity,
    poll_seconds: seconds,
    login_environment: hasLoginEnvironment,
  } = config.slurm;
  return new SlurmExecutor({
    program: { node, runner, hasLoginEnvironment },
    resources: slurmResourcesOf(config),
    capacity,
    pollMs: seconds * 1000,
    log,
  });
}
