import { mkdtempSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type ClusterOptions, SlurmCluster, slurmIsMissing } from '../../../scripts/slurm/cluster.ts';
import type * as z from 'zod';
import { type SlurmMachineClass, slurmMachineClass } from '../../../src/service/slurm/batch/slurmConfig.ts';
import { DEFAULT_CONFIG } from '../../../src/service/serviceConfig.ts';

/** A service on the cluster of `scripts/slurm`, with a class that has no partition and one that no node is large enough for. */
export const SLURM_CONFIG = {
  ...DEFAULT_CONFIG,
  executor: 'slurm',
  machine_classes: [
    machineClass('small', { partition: 'cpu-small', credits_per_minute: 0.6 }),
    machineClass('large', { partition: 'cpu-large', cpus: 2, memory_gb: 1, credits_per_minute: 3 }),
    machineClass('nowhere', { partition: 'no-such-partition' }),
    machineClass('too-wide', { partition: 'cpu-small', cpus: 64 }),
  ],
  slurm: { folder: '', poll_seconds: 0.3, max_jobs: 100, login_environment: false },
};

/** A machine class of `SLURM_CONFIG`'s kind. */
export function machineClass(
  name: string,
  { allow, ...more }: Partial<z.input<typeof slurmMachineClass>>,
): SlurmMachineClass {
  const defaults = { description: '', credits_per_minute: 1, cpus: 1, memory_gb: 0.25, gpus: 0 };
  return slurmMachineClass.parse({ ...defaults, name, ...(allow && { allow }), ...more });
}

/** Folders of a service of its own: one that no job can see, and one that the nodes share. */
export function onCluster(
  cluster: Pick<SlurmCluster, 'privateFolder' | 'sharedFolder'>,
  config: typeof SLURM_CONFIG = SLURM_CONFIG,
): { readonly data: string; readonly shared: string; readonly config: typeof SLURM_CONFIG } {
  const shared = mkdtempSync(join(cluster.sharedFolder, 's-'));
  const data = mkdtempSync(join(cluster.privateFolder, 's-'));
  return { data, shared, config: { ...config, slurm: { ...config.slurm, folder: shared } } };
}

/** Declares tests that share one cluster, which runs from the first to the last; skipped loudly where there is no Slurm. */
export async function describeOnCluster(
  name: string,
  declare: (cluster: () => SlurmCluster) => void,
  options: ClusterOptions = {},
): Promise<void> {
  const missing = await slurmIsMissing();
  if (missing !== undefined) {
    test(name, (t) => t.skip(`NO SLURM: ${missing}`));
    return;
  }
  describe(name, () => {
    let cluster: SlurmCluster;
    let folder: string;
    before(async () => {
      folder = await mkdtemp('/tmp/fwslurm-');
      cluster = await SlurmCluster.start(folder, options);
      process.env['SLURM_CONF'] = cluster.env.SLURM_CONF;
    });
    after(async () => {
      delete process.env['SLURM_CONF'];
      await cluster.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    });
    declare(() => cluster);
  });
}
