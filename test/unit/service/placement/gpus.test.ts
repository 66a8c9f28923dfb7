import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type Gpu, GpuFinder, type GpuFinderOptions, gpuVariables } from '../../../../src/service/placement/gpus.ts';

const skip = process.platform === 'linux' ? false : 'LINUX ONLY: stand-ins for its drivers';
const A = 'GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f';
const B = 'GPU-aa8d8f3b-5b58-4a35-b2ba-3d1a1a1b8d2e';
const MIG = 'MIG-3eb87630-93d5-b2b6-b8ff-9b359caf4ee2';
const TWO = `echo "GPU 0: NVIDIA A100 (UUID: ${A})"; echo "GPU 1: NVIDIA A100 (UUID: ${B})"`;

/** A machine with files at the paths, and an nvidia-smi of shell commands. */
function machine(
  t: TestContext,
  { driver, files = {} }: { driver?: string; files?: Readonly<Record<string, string>> },
) {
  const root = mkdtempSync(join(tmpdir(), 'farwharf-gpus-'));
  t.after(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries({ 'bin/sh': '', ...files })) write(path, text);
  const install = (commands: string): void => {
    write('bin/nvidia-smi', `#!/bin/sh\n[ "$1" = -L ] || exit 9\n${commands}\n`);
    chmodSync(join(root, 'bin/nvidia-smi'), 0o755);
  };
  if (driver !== undefined) install(driver);
  const places = { dev: join(root, 'dev'), proc: join(root, 'proc'), sys: join(root, 'sys') };
  const env = { PATH: join(root, 'bin') + delimiter + '/nowhere' };
  const finder = (options: Partial<GpuFinderOptions> = {}): GpuFinder => {
    const found = new GpuFinder({ chosen: undefined, env, places, ...options });
    t.after(() => found.dispose());
    return found;
  };
  return { root, env, install, finder };
}

function gpusOf(finder: GpuFinder): readonly Gpu[] {
  assert.equal(finder.known.type, 'known');
  return finder.known.type === 'known' ? finder.known.gpus : [];
}

test('NVIDIA GPUs are those that nvidia-smi lists, with the nodes that their driver names', { skip }, async (t) => {
  const information = (uuid: string, minor: number): string =>
    `Model: NVIDIA\nGPU UUID:   ${uuid}\nDevice Minor:   ${minor}\n`;
  const files = {
    'proc/driver/nvidia/gpus/0000:17:00.0/information': information(A, 1),
    'proc/driver/nvidia/gpus/0000:65:00.0/information': information(B, 0),
    'sys/bus/pci/devices/0000:17:00.0/drm/renderD128/dev': '',
    ...Object.fromEntries(
      ['nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm', 'dri/renderD128', 'kfd'].map((name) => [`dev/${name}`, '']),
    ),
  };
  const { root, env, finder } = machine(t, { driver: TWO, files });
  const found = finder();
  assert.equal(found.known.type, 'pending');
  assert.equal(await found.refresh(), true);
  assert.equal(await found.refresh(), false);
  const inDev = (paths: readonly string[]): readonly string[] =>
    paths.map((path) => path.slice(join(root, 'dev/').length));
  const [first, second] = gpusOf(found);
  assert.deepEqual([first?.id, first?.index, first && inDev(first.nodes)], [A, '0', ['nvidia1', 'dri/renderD128']]);
  assert.deepEqual([second?.id, second?.index, second && inDev(second.nodes)], [B, '1', ['nvidia0']]);
  assert.deepEqual(new Set(inDev(found.sharedNodes(gpusOf(found)))), new Set(['nvidiactl', 'nvidia-uvm']));
  assert.deepEqual(found.sharedNodes([]), []);
  const restricted = finder({ env: { ...env, CUDA_VISIBLE_DEVICES: '1' } });
  await restricted.refresh();
  assert.deepEqual(
    gpusOf(restricted).map(({ id }) => id),
    [B],
    'a service that may use some gives jobs only those',
  );
});

test('a GPU that disappears is gone, and is the same one when it returns under another number', { skip }, async (t) => {
  const { install, finder } = machine(t, { driver: TWO });
  const found = finder();
  await found.refresh();
  install(
    `echo "GPU 0: NVIDIA A100 (UUID: ${B})"; echo "Unable to determine the device handle for GPU 0000:17:00.0"; exit 15`,
  );
  assert.equal(await found.refresh(), true);
  assert.deepEqual(
    gpusOf(found).map(({ id, index }) => [id, index]),
    [[B, '0']],
  );
  install('exit 9');
  await found.refresh();
  assert.deepEqual(found.known, { type: 'unknown', why: 'nvidia-smi on the machine reports no GPUs that work' });
  install(TWO);
  await found.refresh();
  assert.deepEqual(
    gpusOf(found).map(({ id, index }) => [id, index]),
    [
      [A, '0'],
      [B, '1'],
    ],
  );
});

test('a driver that hangs is asked by one process only, and is used once it answers', { skip }, async (t) => {
  const { root, finder } = machine(t, { driver: 'echo asked >> "$0.log"; read -r _ < "$0.go"; ' + TWO });
  execFileSync('mkfifo', [join(root, 'bin/nvidia-smi.go')]);
  const found = finder({ limitMs: 1 });
  await found.refresh();
  await found.refresh();
  assert.deepEqual(found.known, { type: 'unknown', why: 'nvidia-smi on the machine does not respond' });
  writeFileSync(join(root, 'bin/nvidia-smi.go'), '\n');
  const isKnown = (): boolean => found.known.type === 'known';
  while (!isKnown()) await found.refresh();
  assert.equal(gpusOf(found).length, 2);
});

test('the instances of a divided GPU are those that jobs can have, and a GPU without them is whole', {
  skip,
}, async (t) => {
  const lines = [
    `echo "GPU 0: NVIDIA A100 (UUID: ${A})"`,
    `echo "  MIG 1g.5gb      Device  0: (UUID: ${MIG})"`,
    `echo "GPU 1: NVIDIA A100 (UUID: ${B})"`,
  ];
  const { finder } = machine(t, { driver: lines.join('; ') });
  const found = finder();
  await found.refresh();
  assert.deepEqual(
    gpusOf(found).map(({ index }) => index),
    [MIG, '1'],
  );
});

test("AMD's GPUs are the nodes of its driver with SIMD units", { skip }, (t) => {
  const node = (units: number, minor: number, unique: string): string =>
    `simd_count ${units}\ndrm_render_minor ${minor}\nunique_id ${unique}\n`;
  const nodes = [node(0, 0, '0'), node(304, 128, '11702843563291415232'), node(304, 129, '0')];
  const files = {
    ...Object.fromEntries(nodes.map((text, index) => [`sys/class/kfd/kfd/topology/nodes/${index}/properties`, text])),
    'sys/class/drm/renderD129/device/drm/card1/dev': '',
    'dev/kfd': '',
    'dev/dri/renderD128': '',
    'dev/dri/renderD129': '',
    'dev/dri/card1': '',
  };
  const { root, finder } = machine(t, { files });
  const found = finder();
  const [first, second] = gpusOf(found);
  assert.deepEqual([first?.index, first?.uuid], ['0', `GPU-${11702843563291415232n.toString(16)}`]);
  assert.deepEqual(second?.nodes, [join(root, 'dev/dri/renderD129'), join(root, 'dev/dri/card1')]);
  assert.deepEqual(found.sharedNodes(gpusOf(found)), [join(root, 'dev/kfd')]);
});

test('the configuration decides which GPUs there are, by their numbers or UUIDs, under the names that other services lock', {
  skip,
}, async (t) => {
  const { finder } = machine(t, { driver: TWO, files: { 'dev/nvidia1': '' } });
  const count = finder({ chosen: 2 });
  assert.equal(count.known.type, 'pending', 'another service may have locked one by its UUID');
  await count.refresh();
  assert.deepEqual(
    gpusOf(count).map(({ id, lock }) => [id, lock]),
    [
      ['0', A],
      ['1', B],
    ],
  );
  const named = finder({ chosen: ['7', B] });
  await named.refresh();
  assert.deepEqual(
    gpusOf(named).map(({ id, lock }) => [id, lock]),
    [
      ['7', '7'],
      [B, B],
    ],
  );
  assert.deepEqual(gpusOf(machine(t, {}).finder({ chosen: 0 })), []);
  const hanging = machine(t, { driver: 'exec sleep 1000' }).finder({ chosen: 2, limitMs: 50 });
  await hanging.refresh();
  assert.deepEqual(
    gpusOf(hanging).map(({ id, lock }) => [id, lock]),
    [
      ['0', '0'],
      ['1', '1'],
    ],
  );
});

test('a service that may use some GPUs gives jobs only those, however they are named', { skip }, async (t) => {
  const node = (minor: number, unique: string): string =>
    `simd_count 304\ndrm_render_minor ${minor}\nunique_id ${unique}\n`;
  const files = {
    'sys/class/kfd/kfd/topology/nodes/0/properties': node(128, '4660'),
    'sys/class/kfd/kfd/topology/nodes/1/properties': node(129, '22136'),
  };
  const { env, finder } = machine(t, { driver: TWO, files });
  const visible = async (more: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const found = finder({ env: { ...env, ...more } });
    await found.refresh();
    return gpusOf(found).map(({ id }) => id);
  };
  const [first, second] = ['GPU-0000000000001234', 'GPU-0000000000005678'];
  assert.deepEqual(await visible({ CUDA_VISIBLE_DEVICES: B.slice(0, 10) }), [B, first, second]);
  assert.deepEqual(await visible({ CUDA_VISIBLE_DEVICES: '', ROCR_VISIBLE_DEVICES: '1' }), [second]);
  assert.deepEqual(await visible({ CUDA_VISIBLE_DEVICES: '-1', ROCR_VISIBLE_DEVICES: first }), [first]);
  assert.deepEqual(await visible({ CUDA_VISIBLE_DEVICES: 'GPU-', HIP_VISIBLE_DEVICES: '0' }), [first]);
});

test('programs find the GPUs of their job by the variables of their vendor, and no others', () => {
  const gpu = (index: string, vendor: Gpu['vendor'], uuid?: string): Gpu => ({
    id: index,
    lock: index,
    index,
    vendor,
    uuid,
    nodes: [],
  });
  const variables = (own: readonly Gpu[], seesOwnOnly = false): readonly (string | undefined)[] => {
    const { CUDA_VISIBLE_DEVICES: cuda, ROCR_VISIBLE_DEVICES: rocr } = gpuVariables(own, seesOwnOnly);
    return [cuda, rocr];
  };
  assert.deepEqual(variables([]), ['', '']);
  const nvidia = [gpu('1', 'nvidia', A), gpu('3', 'nvidia', B)];
  assert.deepEqual(variables(nvidia), ['1,3', '']);
  assert.deepEqual(variables(nvidia, true), [`${A},${B}`, ''], 'numbers count only what is in /dev');
  assert.deepEqual(variables([gpu('2', undefined)]), ['2', '2']);
  assert.deepEqual(
    variables([gpu('2', 'amd'), gpu('3', 'amd')]),
    ['0,1', '2,3'],
    'the first counts what the second leaves',
  );
  assert.deepEqual(variables([gpu('2', 'amd')], true), ['0', '0'], 'without UUIDs, by the place among its own');
});
