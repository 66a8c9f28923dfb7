import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findProgram } from '../../core/processes/findProgram.ts';

const DETECT_MS = 10_000;
const MAX_ANSWER = 64 * 1024;
const NODE_OF_ONE = /^nvidia\d+$/;
const UUID_BEGINNING = /^(?:GPU|MIG)-[\w/-]+$/;

/** A GPU that jobs can have. */
export interface Gpu {
  /** By which the service knows it as long as it runs. */
  readonly id: string;
  /** By which all services of the machine know it. */
  readonly lock: string;
  readonly vendor: 'nvidia' | 'amd' | undefined;
  /** By which programs on the machine select it. */
  readonly index: string;
  /** By which programs select it that see only some of the GPUs. */
  readonly uuid: string | undefined;
  /** What only this one has in /dev. */
  readonly nodes: readonly string[];
}

/** The GPUs of a machine; `pending` before the drivers have answered for the first time, `unknown` while they do not. */
export type KnownGpus =
  | { readonly type: 'known'; readonly gpus: readonly Gpu[] }
  | { readonly type: 'pending' | 'unknown'; readonly why: string };

/** Where a machine is described. */
export interface GpuPlaces {
  readonly dev: string;
  readonly proc: string;
  readonly sys: string;
}

const PLACES: GpuPlaces = { dev: '/dev', proc: '/proc', sys: '/sys' };

export interface GpuFinderOptions {
  /** `[process] gpus`. */
  readonly chosen: number | readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly places?: GpuPlaces;
  /** How long a driver may take. */
  readonly limitMs?: number;
}

/** Finds the GPUs of this machine, without waiting for a driver that hangs. */
export class GpuFinder {
  readonly #options: GpuFinderOptions;
  readonly #places: GpuPlaces;
  readonly #program: string | undefined;
  #known: KnownGpus;
  /** Still set if the driver has not answered in time: another process would hang as well. */
  #asking: NvidiaQuestion | undefined;

  constructor(options: GpuFinderOptions) {
    this.#options = options;
    this.#places = options.places ?? PLACES;
    this.#program = findProgram('nvidia-smi', options.env['PATH'] ?? '');
    this.#known =
      this.#program === undefined
        ? this.#all([])
        : { type: 'pending', why: 'the GPUs of the machine are not known yet' };
  }

  /** Whether the configuration says which GPUs jobs can have. */
  get isChosen(): boolean {
    return this.#options.chosen !== undefined;
  }

  get known(): KnownGpus {
    return this.#known;
  }

  /** Asks the drivers. @returns whether the GPUs are others than before. */
  async refresh(): Promise<boolean> {
    const before = describe(this.#known);
    this.#known = await this.#find();
    return describe(this.#known) !== before;
  }

  /** Leaves a driver that hangs alone. */
  dispose(): void {
    this.#asking?.child.kill('SIGKILL');
    this.#asking?.child.stdout?.destroy();
  }

  async #find(): Promise<KnownGpus> {
    if (this.#program === undefined) return this.#all([]);
    const { limitMs = DETECT_MS, chosen } = this.#options;
    this.#asking ??= ask(this.#program);
    const answer = await Promise.race([this.#asking.answer, sleep(limitMs, undefined, { ref: false })]);
    if (answer !== undefined) this.#asking = undefined;
    if (answer?.isOk === true) return this.#all(readList(answer.text));
    if (chosen !== undefined) return this.#known.type === 'known' ? this.#known : this.#all([]);
    const why = answer === undefined ? 'does not respond' : 'reports no GPUs that work';
    return { type: 'unknown', why: `nvidia-smi on the machine ${why}` };
  }

  #all(listed: readonly ListedGpu[]): KnownGpus {
    const nvidia = listed.map((gpu) => this.#nvidia(gpu));
    const { chosen, env } = this.#options;
    if (chosen === undefined) {
      const amd = visibleOf(this.#amd(), env['ROCR_VISIBLE_DEVICES'] ?? env['HIP_VISIBLE_DEVICES']);
      return { type: 'known', gpus: [...visibleOf(nvidia, env['CUDA_VISIBLE_DEVICES']), ...amd] };
    }
    const ids = typeof chosen === 'number' ? Array.from({ length: chosen }, (_, index) => String(index)) : chosen;
    const found = [...nvidia, ...this.#amd()];
    return {
      type: 'known',
      gpus: ids.map((id) => {
        const own = found.find(({ index, uuid }) => index === id || uuid === id);
        // What jobs have must keep its name, whatever is learned of it later.
        if (own !== undefined) return { ...own, id, index: id };
        return { id, lock: id, vendor: undefined, index: id, uuid: undefined, nodes: this.#nodesNamed(`nvidia${id}`) };
      }),
    };
  }

  #nvidia({ index, uuid, parent }: ListedGpu): Gpu {
    const { minor, pci } = this.#driverInfo(parent ?? uuid);
    const drm = pci === undefined ? [] : namesIn(join(this.#places.sys, 'bus/pci/devices', pci, 'drm'));
    const nodes = [`nvidia${minor ?? index}`, ...drm.map((name) => join('dri', name))];
    const id = uuid ?? index;
    return { id, lock: id, vendor: 'nvidia', index, uuid, nodes: this.#nodesNamed(...nodes) };
  }

  /** What NVIDIA's driver for Linux says about a GPU, whose node need not have the number of its index. */
  #driverInfo(uuid: string | undefined): { readonly minor?: string | undefined; readonly pci?: string | undefined } {
    const folder = join(this.#places.proc, 'driver/nvidia/gpus');
    for (const pci of uuid === undefined ? [] : namesIn(folder)) {
      const text = textOf(join(folder, pci, 'information'));
      if (text.includes(uuid ?? '')) return { minor: /^Device Minor:\s*(\d+)/m.exec(text)?.[1], pci };
    }
    return {};
  }

  #amd(): readonly Gpu[] {
    return amdGpus(this.#places.sys).map(({ id, index, uuid, render }) => {
      const drm = namesIn(join(this.#places.sys, 'class/drm', render, 'device/drm'));
      const own = [...new Set([render, ...drm])].map((name) => join('dri', name));
      return { id, lock: id, vendor: 'amd', index, uuid, nodes: this.#nodesNamed(...own) };
    });
  }

  #nodesNamed(...names: readonly string[]): readonly string[] {
    return names.map((name) => join(this.#places.dev, name)).filter((path) => existsSync(path));
  }

  /** All that a job needs in /dev besides the nodes of its own GPUs. */
  sharedNodes(own: readonly Gpu[]): readonly string[] {
    const names = namesIn(this.#places.dev);
    const vendors = new Set(own.map(({ vendor }) => vendor));
    const nvidia =
      vendors.has('nvidia') || vendors.has(undefined) ? names.filter((name) => name.startsWith('nvidia')) : [];
    const amd = vendors.has('amd') || vendors.has(undefined) ? ['kfd'] : [];
    return this.#nodesNamed(...nvidia.filter((name) => !NODE_OF_ONE.test(name)), ...amd);
  }
}

/** A GPU of AMD. */
interface AmdGpu extends Pick<Gpu, 'id' | 'index' | 'uuid'> {
  /** The name of its node in /dev/dri. */
  readonly render: string;
}

/** AMD's driver describes each processor and each GPU in a folder, in the order of their numbers. @param sys `/sys`. */
export function amdGpus(sys: string): readonly AmdGpu[] {
  const folder = join(sys, 'class/kfd/kfd/topology/nodes');
  const nodes = namesIn(folder).toSorted((one, other) => Number(one) - Number(other));
  const gpus = nodes.flatMap((node) => {
    const text = textOf(join(folder, node, 'properties'));
    const number = (name: string): string => new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? '0';
    return number('simd_count') === '0' ? [] : [{ minor: number('drm_render_minor'), unique: number('unique_id') }];
  });
  return gpus.map(({ minor, unique }, index) => {
    const uuid = unique === '0' ? undefined : `GPU-${BigInt(unique).toString(16).padStart(16, '0')}`;
    return { id: uuid ?? `amd-${minor}`, index: String(index), uuid, render: `renderD${minor}` };
  });
}

/** Those of the GPUs that a variable names, by number, by UUID or by its beginning; all of them without the variable. */
function visibleOf(gpus: readonly Gpu[], variable: string | undefined): readonly Gpu[] {
  const names = variable?.split(',').map((name) => name.trim());
  const isBeginning = (name: string, uuid = ''): boolean => UUID_BEGINNING.test(name) && uuid.startsWith(name);
  return gpus.filter(({ index, uuid }) => names?.some((name) => name === index || isBeginning(name, uuid)) !== false);
}

/** The variables by which programs find the GPUs of a job, and no others. @param seesOwnOnly whether no others are in its /dev. */
export function gpuVariables(own: readonly Gpu[], seesOwnOnly: boolean): Readonly<Record<string, string>> {
  const named = (gpus: readonly Gpu[]): string =>
    gpus.map((gpu, place) => (seesOwnOnly ? nameAmong(gpu, place) : gpu.index)).join(',');
  const amd = own.filter(({ vendor }) => vendor === 'amd');
  const others = own.filter(({ vendor }) => vendor !== 'amd');
  const unknown = own.filter(({ vendor }) => vendor === undefined);
  return {
    // AMD's libraries read it too, and count the GPUs that the other variable has left.
    CUDA_VISIBLE_DEVICES: others.length > 0 ? named(others) : amd.map((_, index) => String(index)).join(','),
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    ROCR_VISIBLE_DEVICES: named([...amd, ...unknown]),
  };
}

/** The name of a GPU where no others are in /dev: AMD's libraries count what they find there. */
function nameAmong({ vendor, uuid, index }: Gpu, place: number): string {
  return uuid ?? (vendor === 'amd' ? String(place) : index);
}

interface ListedGpu {
  readonly index: string;
  readonly uuid: string | undefined;
  /** The whole GPU that this is an instance of (MIG). */
  readonly parent?: string | undefined;
}

interface NvidiaAnswer {
  readonly isOk: boolean;
  readonly text: string;
}

interface NvidiaQuestion {
  readonly child: ChildProcess;
  readonly answer: Promise<NvidiaAnswer>;
}

function ask(program: string): NvidiaQuestion {
  const child = spawn(program, ['-L'], { stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true });
  // A process that waits for its driver cannot even be killed.
  child.unref();
  const answer = new Promise<NvidiaAnswer>((resolve) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => (text = (text + more).slice(0, MAX_ANSWER)));
    child.once('error', () => resolve({ isOk: false, text }));
    // A GPU that has failed is reported beside those that work.
    child.once('close', (code) => resolve({ isOk: code === 0 || /^GPU \d/m.test(text), text }));
  });
  return { child, answer };
}

/** Lines like `GPU 0: NVIDIA A100 (UUID: GPU-…)`, each followed by its instances, if it is divided: `  MIG 1g.5gb Device 0: (UUID: MIG-…)`. */
function readList(text: string): readonly ListedGpu[] {
  const listed: ListedGpu[] = [];
  for (const line of text.split('\n')) {
    const [, uuid] = /\(UUID: ([\w/-]+)\)/.exec(line) ?? [];
    const [, index] = /^GPU (\d+):/.exec(line) ?? [];
    if (index !== undefined) listed.push({ index, uuid });
    const whole = listed.findLast(({ parent }) => parent === undefined);
    if (/^\s+MIG /.test(line) && uuid !== undefined && whole !== undefined)
      listed.push({ index: uuid, uuid, parent: whole.uuid });
  }
  const divided = new Set(listed.flatMap(({ parent }) => parent ?? []));
  return listed.filter(({ uuid, parent }) => parent !== undefined || uuid === undefined || !divided.has(uuid));
}

function describe(known: KnownGpus): string {
  return JSON.stringify(known);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
