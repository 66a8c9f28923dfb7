import { availableParallelism } from 'node:os';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { machineMemory } from '../cgroups/machineMemory.ts';
import { toMicro } from '../store/accounts/creditLedger.ts';
import { systemCode } from '../../core/errors.ts';

/** A machine class of the configuration: what jobs can request. Without a price, its jobs cost no credits. Executors may add fields. */
export const machineClass = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be letters, digits, ".", "_" and "-"'),
  description: z.string().default(''),
  credits_per_minute: z.number().min(0).optional(),
  /** While a job is frozen and computes nothing; default: `credits_per_minute`. */
  frozen_credits_per_minute: z.number().min(0).optional(),
  cpus: z.int().min(1).default(1),
  memory_gb: z.number().positive().default(1),
  gpus: z.int().min(0).default(0),
  /** What the files of a job may occupy; default: no limit of its own. */
  disk_gb: z.number().positive().optional(),
});

// One folder for each GPU, in which NVIDIA's driver for Linux describes it. Reading it starts no process, as nvidia-smi would be.
const NVIDIA_GPUS = '/proc/driver/nvidia/gpus';
// One folder for each processor and each GPU; only GPUs have SIMD units.
const AMD_NODES = '/sys/class/kfd/kfd/topology/nodes';
const CORES_WITHOUT_GPU = 4;
/** `shared`: its jobs reserve nothing and have all of the machine together, as the executor `process` allows. */
export type MachineClass = Readonly<z.infer<typeof machineClass>> & { readonly shared?: boolean | undefined };

/** A list of machine classes with different names. @param error for anything but a list with one class or more. */
export function machineClassList<Class extends typeof machineClass>(one: Class, error?: string) {
  return z
    .array(one, error)
    .min(1, error)
    .superRefine((classes, context) => {
      const names = classes.map(({ name }) => name);
      const twice = names.find((name, index) => names.indexOf(name) !== index);
      if (twice !== undefined) context.addIssue({ code: 'custom', message: `"${twice}" is there twice` });
    });
}

/** The machine classes of a service. The first is the default. */
export class MachineClasses {
  readonly #classes: ReadonlyMap<string, MachineClass>;
  readonly first: MachineClass;

  constructor(classes: readonly [MachineClass, ...MachineClass[]]) {
    this.#classes = new Map(classes.map((one) => [one.name, one]));
    this.first = classes[0];
  }

  get names(): readonly string[] {
    return [...this.#classes.keys()];
  }

  get(name: string): MachineClass | undefined {
    return this.#classes.get(name);
  }

  /**
   * Micro-credits for `seconds` on a machine of this class, rounded up so that a hold always covers the charge. 0 for a class
   * without a price, and for one that is no longer in the configuration, because its price is unknown.
   *
   * @param frozenSeconds in addition, in which the job was frozen.
   */
  priceOf(name: string, seconds: number, frozenSeconds = 0): number {
    const { credits_per_minute: price = 0, frozen_credits_per_minute: frozenPrice = price } =
      this.#classes.get(name) ?? {};
    return Math.ceil((seconds * toMicro(price) + frozenSeconds * toMicro(frozenPrice)) / 60);
  }

  /** Whether any job costs credits. */
  get hasPrices(): boolean {
    return [...this.#classes.values()].some((one) => one.credits_per_minute !== undefined);
  }

  /** The price list of `GET /v1/me`. */
  rateCard() {
    return [...this.#classes.values()].map((one) => {
      const { name, credits_per_minute, frozen_credits_per_minute, description, cpus, memory_gb, gpus } = one;
      const price = {
        ...(credits_per_minute !== undefined && { credits_per_minute }),
        ...(frozen_credits_per_minute !== undefined && { frozen_credits_per_minute }),
      };
      return { machine_class: name, ...price, description, cpus, memory_gb, gpus };
    });
  }
}

/** The machine that this runs on, without a price, and shared by all jobs. */
export function thisMachine(): MachineClass {
  return {
    name: 'local',
    description: 'This machine.',
    cpus: availableParallelism(),
    memory_gb: Math.round((machineMemory().total / 2 ** 30) * 10) / 10,
    gpus: countGpus(),
    shared: true,
  };
}

/** The only class of a shared service without a configuration: the machine that it runs on, with a price. */
export function localMachineClasses(): MachineClasses {
  const description = 'The machine that the service runs on.';
  return new MachineClasses([{ ...thisMachine(), description, credits_per_minute: 0.1 }]);
}

/**
 * The machine classes of a machine for one person whose GPUs go to one job each: one GPU with its share of the machine (the default), all of
 * them, and none.
 */
export function gpuClasses({ cpus, memory_gb: memoryGb, gpus }: MachineClass): [MachineClass, ...MachineClass[]] {
  const part = (name: string, description: string, cores: number, count: number): MachineClass => {
    const memory = count > 0 ? memoryGb * (count / gpus) : memoryGb * (cores / cpus);
    return { name, description, cpus: cores, memory_gb: Math.floor(memory * 10) / 10, gpus: count };
  };
  const share = Math.max(1, Math.floor(cpus / gpus));
  return [
    part('gpu', '1 GPU.', share, 1),
    ...(gpus > 1 ? [part('all-gpus', `All ${gpus} GPUs.`, cpus, gpus)] : []),
    part('cpu', 'No GPU.', Math.min(share, CORES_WITHOUT_GPU), 0),
  ];
}

/** How many GPUs of NVIDIA and AMD this machine has; 0 where their drivers for Linux are missing. */
export function countGpus({ nvidia = NVIDIA_GPUS, amd = AMD_NODES } = {}): number {
  const isGpu = (node: string): boolean => /^simd_count [1-9]/m.test(textOf(join(amd, node, 'properties')));
  return namesIn(nvidia).length + namesIn(amd).filter(isGpu).length;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return '';
  }
}
