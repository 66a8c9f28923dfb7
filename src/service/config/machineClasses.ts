import { availableParallelism, totalmem } from 'node:os';
import { readdirSync } from 'node:fs';
import * as z from 'zod';
import { toMicro } from '../store/accounts/creditLedger.ts';
import { systemCode } from '../../core/errors.ts';

/** A machine class of the configuration: what jobs can request. Without a price, its jobs cost no credits. Executors may add fields. */
export const machineClass = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be letters, digits, ".", "_" and "-"'),
  description: z.string().default(''),
  credits_per_minute: z.number().min(0).optional(),
  cpus: z.int().min(1).default(1),
  memory_gb: z.number().positive().default(1),
  gpus: z.int().min(0).default(0),
  /** What the files of a job may occupy; default: no limit of its own. */
  disk_gb: z.number().positive().optional(),
});

// One folder for each GPU, in which NVIDIA's driver for Linux describes it. Reading it starts no process, as nvidia-smi would be.
const NVIDIA_GPUS = '/proc/driver/nvidia/gpus';
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
   */
  priceOf(name: string, seconds: number): number {
    return Math.ceil((seconds * toMicro(this.#classes.get(name)?.credits_per_minute ?? 0)) / 60);
  }

  /** Whether any job costs credits. */
  get hasPrices(): boolean {
    return [...this.#classes.values()].some((one) => one.credits_per_minute !== undefined);
  }

  /** The price list of `GET /v1/me`. */
  rateCard() {
    return [...this.#classes.values()].map(({ name, credits_per_minute, description, cpus, memory_gb, gpus }) => {
      const price = credits_per_minute === undefined ? {} : { credits_per_minute };
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
    memory_gb: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    gpus: countGpus(),
    shared: true,
  };
}

/** The only class of a shared service without a configuration: the machine that it runs on, with a price. */
export function localMachineClasses(): MachineClasses {
  const description = 'The machine that the service runs on.';
  return new MachineClasses([{ ...thisMachine(), description, credits_per_minute: 0.1 }]);
}

/** How many NVIDIA GPUs this machine has; 0 where their driver for Linux is missing. */
export function countGpus(folder: string = NVIDIA_GPUS): number {
  try {
    return readdirSync(folder).length;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return 0;
  }
}
