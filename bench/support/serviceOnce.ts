// The job service as a process of its own, built with its runners beside it. Usage: serviceOnce.mjs DATA CAPACITY real|stand-in
import { join } from 'node:path';
import { silentLogger } from '../../src/core/log.ts';
import { DEFAULT_CONFIG } from '../../src/service/config.ts';
import { serve } from '../../src/service/serve.ts';
import { onInputEnd, tell } from './companion.ts';

const [, , data = '', capacity, kind] = process.argv;
const runner = join(import.meta.dirname, kind === 'real' ? 'jobRunner.mjs' : 'runnerOnce.mjs');
const stop = new AbortController();
const { url, key, closed } = await serve(
  {
    host: '127.0.0.1',
    port: 0,
    data,
    config: { ...DEFAULT_CONFIG, process: { ...DEFAULT_CONFIG.process, max_jobs: Number(capacity) } },
    runner,
    version: 'bench',
    credits: 1e9,
  },
  { log: silentLogger, signal: stop.signal },
);
tell({ url, key });
onInputEnd(() => stop.abort());
await closed;
