import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_CONFIG } from '../../../src/service/config/config.ts';
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

/** Why jobs cannot be isolated on this machine; undefined where they can. Root on Debian gets bubblewrap for it. */
export async function isolationIsMissing(): Promise<string | undefined> {
  const isDebian = existsSync('/usr/bin/apt-get') && process.getuid?.() === 0;
  if (isDebian && !existsSync('/usr/bin/bwrap')) {
    // Two test files may want it at once.
    const wait = ['-o', 'DPkg::Lock::Timeout=60'];
    spawnSync('/usr/bin/apt-get', [...wait, 'install', '-y', 'bubblewrap'], { timeout: 60_000 });
  }
  const data = await mkdtemp(join(tmpdir(), 'farwharf-isolation-'));
  try {
    const found = await findIsolation(DEFAULT_CONFIG, data);
    return found.type === 'none' ? found.why : undefined;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}
