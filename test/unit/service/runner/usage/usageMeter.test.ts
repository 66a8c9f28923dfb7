import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { GpuMeter } from '../../../../../src/service/runner/usage/sampleUsage.ts';
import { UsageMeter } from '../../../../../src/service/runner/usage/usageMeter.ts';

const MEGABYTES = 200;
const skip = process.platform === 'linux' ? false : 'only Linux has /proc';

/** A job with a child, each of which works for a known time, holds memory until it is asked to stop, and reports its own CPU time. */
const PROGRAM = `
  const { spawn } = require('node:child_process');
  const spin = (ms) => { while (process.cpuUsage().user / 1000 < ms); };
  const seconds = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1e6; };
  const memory = Buffer.alloc(${MEGABYTES}e6, 1);
  const worker = "const spin = " + spin + "; spin(300); console.log(" + "(" + seconds + ")()" + ")";
  const child = spawn(process.execPath, ['-e', worker + "; process.stdin.once('data', () => process.exit())"]);
  spin(400);
  child.stdout.once('data', (own) => {
    console.log(Number(own) + seconds() + 0 * memory.length);
    process.stdin.once('data', () => {
      child.once('exit', () => console.log('child ended'));
      child.stdin.write('end');
    });
  });
`;

function start(
  t: TestContext,
  program: string,
): { readonly child: ChildProcess; readonly next: () => Promise<string> } {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const { stdout } = child;
  return { child, next: async () => String((await once(stdout, 'data'))[0]) };
}

test('the CPU time and memory of a job and its children agree with what they report themselves', {
  skip,
}, async (t) => {
  const { child, next } = start(t, PROGRAM);
  const meter = new UsageMeter(() => [child.pid ?? 0], null, 0);
  const ownSeconds = Number(await next());
  meter.look(2_000);
  const usage = meter.take();
  const seconds = 2 * usage.cpu_cores;
  // The kernel counts in hundredths of a second, and both processes print after they have measured themselves.
  assert.ok(Math.abs(seconds - ownSeconds) < 0.03 * ownSeconds + 0.05, `${seconds} s instead of ${ownSeconds} s`);
  const megabytes = usage.memory_bytes / 1e6;
  assert.ok(megabytes >= MEGABYTES && megabytes < MEGABYTES + 150, `${megabytes} MB instead of ${MEGABYTES} MB`);

  child.stdin?.write('go on');
  assert.equal(await next(), 'child ended\n');
  for (const at of [3_000, 4_000, 5_000]) meter.look(at);
  const idle = meter.take();
  assert.ok(idle.cpu_cores < 0.1, `a child that ended counts once, not as ${idle.cpu_cores} more cores`);
});

test('memory that a job frees before the report still counts as its highest', { skip }, async (t) => {
  const { child, next } = start(
    t,
    `require('node:v8').setFlagsFromString('--expose-gc');
     const gc = require('node:vm').runInNewContext('gc');
     let memory = Buffer.alloc(${MEGABYTES}e6, 1);
     console.log('full ' + memory.length);
     // Another thread of V8 returns the memory, some time after the collection.
     const free = () => {
       gc();
       if (process.memoryUsage.rss() < ${MEGABYTES}e6) console.log('empty');
       else setTimeout(free, 20);
     };
     process.stdin.on('data', () => { memory = undefined; free(); });`,
  );
  const meter = new UsageMeter(() => [child.pid ?? 0], null, 0);
  await next();
  meter.look(1_000);
  child.stdin?.write('free');
  await next();
  meter.look(2_000);
  assert.ok(meter.take().memory_bytes >= MEGABYTES * 1e6);
  meter.look(3_000);
  assert.ok(meter.take().memory_bytes < MEGABYTES * 1e6);
});

test('a job that has ended uses nothing', { skip }, async (t) => {
  const { child } = start(t, '');
  await once(child, 'exit');
  const meter = new UsageMeter(() => [child.pid ?? 0], null, 0);
  meter.look(1_000);
  const nothing = {
    cpu_cores: 0,
    cpu_waiting: 0,
    memory_bytes: 0,
    disk_read_bytes_per_second: 0,
    disk_write_bytes_per_second: 0,
  };
  assert.deepEqual(meter.take(), nothing);
});

test('GPUs are measured if the machine has nvidia-smi, and those that measure nothing are left out', {
  skip,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-gpu-'));
  t.after(() => rm(folder, { recursive: true }));
  const { signal } = new AbortController();
  const visible = { PATH: folder, CUDA_VISIBLE_DEVICES: '0,1,2' };
  const without = new GpuMeter({ env: { PATH: folder }, costShare: 1, sys: folder });
  await without.look(() => 0, signal);
  assert.deepEqual(without.latest, {});
  const program = join(folder, 'nvidia-smi');
  await writeFile(
    program,
    `#!/bin/sh\n[ "$1 $2" = "-i 0,1,2" ] && printf '0, 93, 20480\\n1, 7, 1024\\n2, [N/A], [N/A]\\n'\n`,
  );
  await chmod(program, 0o755);
  const meter = new GpuMeter({ env: visible, costShare: 1, sys: folder });
  await meter.look(() => 0, signal);
  assert.deepEqual(meter.latest, {
    gpus: 1,
    gpu_memory_bytes: 21_504 * 2 ** 20,
    gpu_devices: [
      { gpu: '0', used: 0.93, memory_bytes: 20_480 * 2 ** 20 },
      { gpu: '1', used: 0.07, memory_bytes: 1_024 * 2 ** 20 },
    ],
  });
  const own = new GpuMeter({
    env: { ...visible, CUDA_VISIBLE_DEVICES: '7' },
    costShare: 1,
    own: ['0', '1', '2'],
    sys: folder,
  });
  await own.look(() => 0, signal);
  assert.equal(own.latest.gpus, 1, 'those that are reserved for the job');
  const none = new GpuMeter({ env: visible, costShare: 1, own: [], sys: folder });
  await none.look(() => 0, signal);
  assert.deepEqual(none.latest, {});
  await writeFile(program, 'exit 1');
  await meter.look(() => 1_000, signal);
  assert.equal(meter.latest.gpus, 1, 'it is not asked again so soon');
  await meter.look(() => 6_000, signal);
  assert.deepEqual(meter.latest, {});
});

test("AMD's GPUs are measured by their driver, those of the job only, beside NVIDIA's", { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-gpu-'));
  t.after(() => rm(folder, { recursive: true }));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text, { mode: 0o755 });
  };
  for (const [index, unique] of [4_660, 22_136, 0].entries()) {
    const properties = `simd_count 304\ndrm_render_minor ${128 + index}\nunique_id ${unique}\n`;
    await write(`class/kfd/kfd/topology/nodes/${index}/properties`, properties);
    await write(`class/drm/renderD${128 + index}/device/gpu_busy_percent`, `${index}0\n`);
    await write(`class/drm/renderD${128 + index}/device/mem_info_vram_used`, `${index}000000\n`);
  }
  const { signal } = new AbortController();
  const measure = async (own?: readonly string[]): Promise<unknown> => {
    const meter = new GpuMeter({ env: { PATH: join(folder, 'bin') }, costShare: 1, own, sys: folder });
    await meter.look(() => 0, signal);
    return meter.latest;
  };
  const [first, second, third] = [0, 1, 2].map((index) => ({
    gpu: String(index),
    used: index / 10,
    memory_bytes: index * 1_000_000,
  }));
  assert.deepEqual(await measure(), { gpus: 0.3, gpu_memory_bytes: 3_000_000, gpu_devices: [first, second, third] });
  assert.deepEqual(await measure(['GPU-0000000000005678']), { gpus: 0.1, gpu_memory_bytes: 1_000_000 });
  assert.deepEqual(await measure(['1', '2']), { gpus: 0.3, gpu_memory_bytes: 3_000_000, gpu_devices: [second, third] });
  assert.deepEqual(await measure([]), {});
  await write('bin/nvidia-smi', `#!/bin/sh\n[ "$1 $2" = "-i 1" ] && echo '1, 50, 1024'\n`);
  assert.deepEqual(await measure(['1', 'amd-130']), {
    gpus: 0.7,
    gpu_memory_bytes: 2_000_000 + 2 ** 30,
    gpu_devices: [{ gpu: '1', used: 0.5, memory_bytes: 2 ** 30 }, third],
  });
});

test('threads that are ready but have no core wait, and those that sleep do not', { skip }, async (t) => {
  // Two threads that each need 300 ms of the one core that they share: at least one of them waits that long.
  const { child, next } = start(
    t,
    `const { Worker } = require('node:worker_threads');
     require('node:child_process').spawnSync('taskset', ['-acp', '0', String(process.pid)]);
     const spin = "const { parentPort } = require('node:worker_threads');" +
       "while (process.threadCpuUsage().user < 300_000); parentPort.postMessage('done');";
     let left = 2;
     const done = () => { left -= 1; if (left === 0) console.log('done'); };
     for (let index = 0; index < 2; index += 1) new Worker(spin, { eval: true }).on('message', done);
     const memory = setInterval(() => {}, 1_000);
     process.stdin.once('data', () => console.log('slept'));`,
  );
  const meter = new UsageMeter(() => [child.pid ?? 0], null, 0);
  const looking = setInterval(() => meter.look(500), 20);
  t.after(() => clearInterval(looking));
  await next();
  clearInterval(looking);
  meter.look(1_000);
  const { cpu_waiting: waited } = meter.take();
  assert.ok(waited >= 0.2, `${waited} s of at least 0.3 s`);
  meter.look(2_000);
  const idle = meter.take();
  assert.ok(idle.cpu_waiting < 0.1, `${idle.cpu_waiting} while it slept`);
});
