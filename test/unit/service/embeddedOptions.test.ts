import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { embeddedServeOptions } from '../../../src/service/embeddedOptions.ts';

const PROGRAM = { runner: '/nowhere/jobRunner.mjs', version: '0.1.0' };

test('a person’s service is quiet and keeps everything, unless service.toml says otherwise', async () => {
  const home = await mkdtemp(join(tmpdir(), 'farwharf-home-'));
  try {
    const before = (await embeddedServeOptions(home, PROGRAM)).config;
    assert.deepEqual(before.retention, { min_free_gb: 0.1 });
    assert.deepEqual([before.log.requests, before.metrics.enabled], [false, false]);
    const lines = ['[retention]', 'days = 30', '[log]', 'level = "debug"', '[metrics]', 'enabled = true'];
    await writeFile(join(home, 'service.toml'), lines.join('\n'), { mode: 0o600 });
    const { config } = await embeddedServeOptions(home, PROGRAM);
    assert.deepEqual(config.retention, { days: 30, min_free_gb: 0.1 });
    assert.deepEqual([config.log.level, config.log.requests, config.metrics.enabled], ['debug', false, true]);
  } finally {
    await rm(home, { recursive: true });
  }
});
