import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../support/builtService.ts';
import { type Calibration, CALIBRATION_FILE } from './calibration.ts';
import { measureJobs } from './measureJobs.ts';
import { measureRequests } from './measureRequests.ts';
import { measureSlurm } from './measureSlurm.ts';
import { measureStore } from './measureStore.ts';

/** Measures the real service on this machine, which takes about two minutes, and keeps what it found for simulations. Linux only. */
export async function calibrate(): Promise<Calibration> {
  const base = mkdtempSync(join(tmpdir(), 'farwharf-scale-'));
  const at = (name: string): string => {
    mkdirSync(join(base, name));
    return join(base, name);
  };
  try {
    const program = await buildService(join(base, 'program'));
    const store = await measureStore(at('store'));
    const { requests, checks } = await measureRequests(program, at('requests'), store.commitMs);
    const { downloadPerMegabyte, ...ofJobs } = await measureJobs(program, at('jobs'), requests);
    const slurm = await measureSlurm(join(base, 'slurm'));
    const calibration: Calibration = {
      machine: `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores`,
      measuredAt: new Date().toISOString().slice(0, 10),
      requests: { ...requests, downloadPerMegabyte },
      store,
      ...ofJobs,
      slurm,
      checks,
    };
    writeFileSync(CALIBRATION_FILE, `${JSON.stringify(calibration, null, 2)}\n`);
    return calibration;
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}
