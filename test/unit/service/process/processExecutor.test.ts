import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_CONFIG } from '../../../../src/service/serviceConfig.ts';
import { localMachineClasses } from '../../../../src/service/config/machineClasses.ts';
import { NO_LOCKS } from '../../../../src/service/placement/gpuLocks.ts';
import { GpuFinder } from '../../../../src/service/placement/gpus.ts';
import { Reservations } from '../../../../src/service/placement/reservations.ts';
import { createProcessExecutor } from '../../../../src/service/process/processExecutor.ts';
import { jobFolder } from '../../../../src/service/jobFiles/jobFolder.ts';

test('a service that ends does not wait for a runner that never takes its job', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'farwharf-executor-'));
  t.after(() => rmSync(path, { recursive: true }));
  const runner = join(path, 'runner.mjs');
  const pidFile = join(path, 'pid');
  writeFileSync(
    runner,
    `import { writeFileSync } from 'node:fs'; writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1e6);`,
  );
  const machineClasses = localMachineClasses();
  const gpus = new GpuFinder({ chosen: 0, env: {} });
  const isolation = { type: 'none', why: 'this is a test', isChosen: true } as const;
  const executor = createProcessExecutor({
    runner,
    data: path,
    killGraceMs: 100,
    settings: DEFAULT_CONFIG.process,
    gpus,
    reservations: new Reservations({
      size: { jobs: 1, cpus: 1, memoryGb: 1 },
      memory: { unused: () => 1, keptFree: 0 },
      machineClasses,
      gpus: () => gpus.known,
      locks: NO_LOCKS,
    }),
    isolation,
    machineClasses,
    accounts: () => 1,
  });
  const stop = new AbortController();
  const launched = executor.launch(
    { id: 'j1', account: 'local', project: null, script: 'a.sh', machineClass: 'local', maxRuntime: 60 },
    jobFolder(path),
    stop.signal,
    {},
  );
  launched.catch(() => {}); // looked at below
  while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await sleep(10);
  stop.abort();
  await assert.rejects(launched, { name: 'AbortError' });
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
});
