// The job service as a process of its own, built with its runners beside it. With `cluster` its jobs go to a stand-in for a
// cluster, whose programs lie in DATA/bin, and DATA has the files of jobs alone. Usage: serviceOnce.mjs DATA CAPACITY real|stand-in|cluster
import { join } from 'node:path';
import { silentLogger } from '../../src/core/log.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from '../../src/service/serviceConfig.ts';
import { serve } from '../../src/service/serve.ts';
import { onInputEnd, printLine } from './companion.ts';

const [, , data = '', capacity, kind] = process.argv;
const CLUSTER_CLASS = {
  name: 'cpu',
  description: '',
  credits_per_minute: 0.1,
  cpus: 1,
  memory_gb: 1,
  gpus: 0,
  sbatch: [],
};
const config: ServiceConfig =
  kind === 'cluster'
    ? {
        ...DEFAULT_CONFIG,
        executor: 'slurm',
        slurm: { max_jobs: Number(capacity), folder: data },
        machine_classes: [CLUSTER_CLASS],
      }
    : { ...DEFAULT_CONFIG, process: { ...DEFAULT_CONFIG.process, max_jobs: Number(capacity) } };
if (kind === 'cluster') process.env['PATH'] = `${join(data, 'bin')}:${process.env['PATH'] ?? ''}`;
const runner = join(import.meta.dirname, kind === 'real' ? 'jobRunner.mjs' : 'runnerOnce.mjs');
const stop = new AbortController();
const { url, key, closed } = await serve(
  {
    host: '127.0.0.1',
    port: 0,
    data: kind === 'cluster' ? `${data}.private` : data,
    config,
    runner,
    version: 'bench',
    credits: 1e9,
  },
  { log: silentLogger, signal: stop.signal },
);
printLine({ url, key });
onInputEnd(() => stop.abort());
await closed;
