import { availableParallelism, totalmem } from 'node:os';
import { toMicro } from './store/credits.ts';

/** The one class of the `process` executor: the machine that the service runs on. */
export const LOCAL_MACHINE_CLASS = 'local';
const CREDITS_PER_MINUTE = 0.1;

/** Micro-credits for `seconds` of running, rounded up so that a hold always covers the charge. */
export function priceOf(seconds: number): number {
  return Math.ceil((seconds * toMicro(CREDITS_PER_MINUTE)) / 60);
}

/** The price list of `GET /v1/me`. */
export function rateCard(isPractice: boolean) {
  return [
    {
      machine_class: LOCAL_MACHINE_CLASS,
      credits_per_minute: CREDITS_PER_MINUTE,
      description: isPractice
        ? 'This machine. Its credits are for practice and cost nothing: they are topped up to 1000 once a day.'
        : 'The machine that the service runs on.',
      cpus: availableParallelism(),
      memory_gb: Math.round((totalmem() / 2 ** 30) * 10) / 10,
      gpus: 0,
    },
  ];
}
