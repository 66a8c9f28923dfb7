import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AsyncDisposableStore } from '../../src/core/processes/lifetime.ts';
import { slurmSite } from '../load/stormRun.ts';
import { SlurmCluster, slurmIsMissing } from '../slurm/cluster.ts';
import { Unavailable } from './unavailable.ts';

/** The environment variable that names a running job service, as JSON, for windows that would start their own. */
export const SERVICE_VARIABLE = 'FARWHARF_TEST_SERVICE';

/** How to reach a job service. */
export interface GivenService {
  readonly url: string;
  readonly key: string;
}

/**
 * Starts a private Slurm cluster and the built `farwharf serve --executor slurm` on it.
 *
 * @throws Unavailable where there is no Slurm to be had.
 */
export async function startSlurmService(): Promise<GivenService & AsyncDisposable> {
  const missing = await slurmIsMissing();
  if (missing !== undefined) throw new Unavailable(`NO SLURM: ${missing}`);
  await using started = new AsyncDisposableStore();
  const folder = await mkdtemp(join(tmpdir(), 'fwslurm-'));
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const cluster = await SlurmCluster.start(join(folder, 'cluster'));
  started.defer(() => cluster.stop());
  const program = resolve(import.meta.dirname, '../../dist/cli.mjs');
  const { site } = slurmSite({ folder: join(folder, 'service'), program, credits: 1_000 }, cluster);
  started.defer(() => site.end('SIGTERM'));
  site.start();
  const { url } = await site.client(AbortSignal.timeout(30_000));
  const resources = started.move();
  return { url, key: site.key, [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose]() };
}
