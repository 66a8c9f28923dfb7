import { availableParallelism, totalmem } from 'node:os';
import { toMicro } from '../store/accounts/credits.ts';

/** What jobs can ask for, with its price: a line of the price list. */
export interface MachineClass {
  readonly name: string;
  readonly creditsPerMinute: number;
  readonly description: string;
  readonly cpus: number;
  readonly memoryGb: number;
  readonly gpus: number;
}

/** The machine classes of a service; the first is for jobs that name none. */
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
   * Micro-credits for `seconds` on a machine of this class, rounded up so that a hold always covers the charge. A class that
   * was taken out of the configuration costs nothing any more: there is nobody left to say what it costs.
   */
  priceOf(name: string, seconds: number): number {
    return Math.ceil((seconds * toMicro(this.#classes.get(name)?.creditsPerMinute ?? 0)) / 60);
  }

  /** The price list of `GET /v1/me`. */
  rateCard() {
    return [...this.#classes.values()].map(({ name, creditsPerMinute, description, cpus, memoryGb, gpus }) => ({
      machine_class: name,
      credits_per_minute: creditsPerMinute,
      description,
      cpus,
      memory_gb: memoryGb,
      gpus,
    }));
  }
}

/** The one class of a service that was not told of others: the machine it runs on. */
export function localMachineClasses({ isPractice }: { isPractice: boolean }): MachineClasses {
  return new MachineClasses([
    {
      name: 'local',
      creditsPerMinute: 0.1,
      description: isPractice
        ? 'This machine. Its credits are for practice and cost nothing: they are topped up to 1000 once a day.'
        : 'The machine that the service runs on.',
      cpus: availableParallelism(),
      memoryGb: Math.round((totalmem() / 2 ** 30) * 10) / 10,
      gpus: 0,
    },
  ]);
}
