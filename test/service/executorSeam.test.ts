import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { AppError } from '../../src/core/errors.ts';
import { processIdentity } from '../../src/core/processes/processTree.ts';
import { checkService } from '../../src/service/checkService.ts';
import { machineClass, machineClassList } from '../../src/service/config/machineClasses.ts';
import { defineExecutor } from '../../src/service/executor/executorKind.ts';
import { EXECUTORS } from '../../src/service/executors.ts';
import { readClaim } from '../../src/service/jobFiles/markers.ts';
import { readConfig } from '../../src/service/serviceConfig.ts';
import { startService, temporaryFolder } from './support/service.ts';

/** An executor as somebody would add it: runners on the service's machine, sorted by a label of their machine class. */
const attic = defineExecutor({
  shape: {
    attic: z.strictObject({ slots: z.int().min(1) }),
    machine_classes: machineClassList(machineClass.extend({ shelf: z.string() })),
  },
  create: async ({ attic: { slots }, machine_classes: classes }, { runner, log }) => ({
    capacity: slots,
    isLocal: true,
    keepsEnvironments: () => false,
    refusal: () => undefined,
    async launch({ machineClass: name }, folder, signal) {
      log.info('launched', { shelf: classes.find((one) => one.name === name)?.shelf });
      spawn(process.execPath, [runner, folder.path], { stdio: 'ignore', detached: true }).unref();
      while (!existsSync(folder.claim)) await sleep(10, undefined, { signal });
    },
    async status(_jobId, folder) {
      const claim = await readClaim(folder.claim);
      return { state: claim && processIdentity(claim.pid) === claim.identity ? 'running' : 'gone' };
    },
    externalId: () => undefined,
    reportSecret: () => undefined,
    cancel: async () => {},
    cleanUp: async () => {},
    endNow: async () => false,
    forget: () => {},
    stop: async () => {},
  }),
  check: async ({ attic: { slots } }) => [{ what: `the attic has ${slots} slots`, problem: undefined }],
});
const executors = { ...EXECUTORS, attic: async () => attic };

const CONFIG = `executor = "attic"
[attic]
slots = 2
[slurm]
poll_seconds = 5
[[machine_classes]]
name = "box"
credits_per_minute = 0.5
shelf = "upper left"
`;

test('an executor that is one folder and one line of the registry reads its settings, is checked and runs jobs', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'service.toml');
  writeFileSync(path, CONFIG);
  const config = await readConfig(path, {}, executors);
  const { checks } = await checkService(config, join(folder, 'data'), executors);
  assert.ok(checks.some(({ what, problem }) => what === 'the attic has 2 slots' && problem === undefined));
  const shelves: unknown[] = [];
  const log = { debug() {}, warn() {}, error() {}, info: (_: string, fields?: object) => void shelves.push(fields) };
  const service = await startService(t, { config, executors }, log);
  const id = await service.submit({ 'a.sh': 'echo from the attic' }, { script: 'a.sh', machine_class: 'box' });
  assert.equal((await service.untilEnd(id)).state, 'succeeded');
  assert.equal(await service.output(id), 'from the attic\n');
  assert.ok(shelves.some((fields) => fields instanceof Object && 'shelf' in fields && fields.shelf === 'upper left'));
  const { rate_card: rates } = await service.json<{ rate_card: object[] }>('/v1/me');
  assert.deepEqual(rates, [
    { machine_class: 'box', credits_per_minute: 0.5, description: '', cpus: 1, memory_gb: 1, gpus: 0 },
  ]);
});

test('each executor accepts its own settings only', async (t) => {
  const path = join(await temporaryFolder(t), 'service.toml');
  const refusalOf = async (text: string, executor?: string): Promise<string> => {
    writeFileSync(path, text);
    const error: unknown = await readConfig(path, executor === undefined ? {} : { executor }, executors).catch(
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof AppError && error.code === 'bad-input');
    return error.message;
  };
  assert.match(await refusalOf(CONFIG.replace('slots = 2', '')), /attic\.slots: /);
  assert.match(await refusalOf(CONFIG.replace(/shelf.*/, '')), /machine_classes\.0\.shelf: /);
  assert.match(await refusalOf(CONFIG.replace('shelf', 'partition')), /machine_classes\.0.*"partition"/);
  assert.match(await refusalOf(CONFIG, 'process'), /machine_classes\.0: Unrecognized key: "shelf"/);
  assert.match(await refusalOf(CONFIG, 'slurm'), /slurm\.folder: /);
  assert.match(await refusalOf(CONFIG, 'cellar'), /executor: must be one of process, slurm, attic/);
});
