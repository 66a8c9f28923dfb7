import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programsAreMissing } from '../../../scripts/programs.ts';
import { DEFAULT_CONFIG } from '../../../src/service/serviceConfig.ts';
import { findIsolation } from '../../../src/service/process/isolation.ts';

const VARIABLE = 'TEST_ISOLATION';

/** How the services of this test process isolate their jobs: not at all, unless `isolateJobs` was called. */
export function testedIsolation(): 'bubblewrap' | 'none' {
  return process.env[VARIABLE] === 'bubblewrap' ? 'bubblewrap' : 'none';
}

/** Lets the services of this test process, and of those that it starts, isolate their jobs. */
export function isolateJobs(): void {
  process.env[VARIABLE] = 'bubblewrap';
}

/** As `isolateJobs`, on a machine that can isolate jobs: for tests that would prove the same twice. */
export async function isolateJobsWherePossible(): Promise<void> {
  if ((await isolationIsMissing()) === undefined) isolateJobs();
}

/** Why jobs cannot be isolated on this machine; undefined where they can. Root on Debian gets bubblewrap for it. */
export async function isolationIsMissing(): Promise<string | undefined> {
  await programsAreMissing('bubblewrap', { programs: ['bwrap'], packages: ['bubblewrap'] }); // what is missing is found below
  const data = await mkdtemp(join(tmpdir(), 'farwharf-isolation-'));
  try {
    const found = await findIsolation(DEFAULT_CONFIG.process, { data, hidden: [] });
    return found.type === 'none' ? found.why : undefined;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
