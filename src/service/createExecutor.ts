import type { Logger } from '../core/log.ts';
import { type ServiceConfig, slurmResourcesOf } from './config/config.ts';
import type { Executor } from './executor/executor.ts';
import { describeClusterJobs, describeIsolation, findIsolation } from './process/isolation.ts';
import type { MachineClasses } from './config/machineClasses.ts';
import { createProcessExecutor } from './process/processExecutor.ts';
import { unisolatedRefusal } from './process/isolationRule.ts';
import { PrivacyCheck } from './slurm/privacyCheck.ts';
import { changeableByJobs } from './slurm/programOwner.ts';
import { SlurmExecutor } from './slurm/slurmExecutor.ts';

export interface ExecutorOptions {
  /** Path of the built `jobRunner.mjs`, or of its source. */
  readonly runner: string;
  readonly killGraceMs: number;
  readonly machineClasses: MachineClasses;
  /** The service's data folder. */
  readonly data: string;
  /** How many accounts are enabled. */
  readonly accounts: () => number;
  /** The folder that jobs' files are in. */
  readonly filesFolder: string;
  readonly log: Logger;
}

/** The executor that a configuration names. @throws AppError of `findIsolation` or `PrivacyCheck`. */
export async function createExecutor(config: ServiceConfig, options: ExecutorOptions): Promise<Executor> {
  const { runner, killGraceMs, machineClasses, data, filesFolder, accounts, log } = options;
  if (config.executor === 'process') {
    const isolation = await findIsolation(config, data);
    log.info(describeIsolation(isolation));
    const refusal = unisolatedRefusal(isolation, accounts);
    if (refusal !== undefined) log.warn(refusal);
    const settings = config.process;
    return createProcessExecutor({ runner, data, killGraceMs, settings, isolation, machineClasses, accounts });
  }
  log.info(describeClusterJobs());
  const {
    node = process.execPath,
    max_jobs: capacity,
    poll_seconds: seconds,
    login_environment: hasLoginEnvironment,
  } = config.slurm;
  const changeable = changeableByJobs([node, runner]);
  if (changeable !== undefined) log.warn(changeable);
  const resources = slurmResourcesOf(config);
  const privacy = new PrivacyCheck({ data, filesFolder, resources, log });
  try {
    await privacy.start();
  } catch (error) {
    await privacy.stop();
    throw error;
  }
  return new SlurmExecutor({
    privacy,
    program: { node, runner, hasLoginEnvironment },
    resources,
    capacity,
    pollMs: seconds * 1000,
    log,
  });
}
