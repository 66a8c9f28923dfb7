import type * as z from 'zod';
import { numberField, textField } from '../../core/jsonFields.ts';
import { usageEventData } from '../../remote/protocol/schemas.ts';
import { Series } from './series.ts';

const amount = usageEventData.omit({ at: true, gpu_devices: true }).keyof();
/** What a service can measure of a job, in the protocol's words. */
export type UsageName = z.infer<typeof amount>;
export const USAGE_NAMES: readonly UsageName[] = amount.options;

const devices = usageEventData.pick({ gpu_devices: true });
// A service may send any number.
const MAX_DEVICES = 16;

/** What one of several GPUs does for a job. */
export interface GpuSeries {
  /** 1 is all of it. */
  readonly used: Series;
  readonly memory: Series;
}

/** Collects what a job uses from its `usage` events, which a service may leave out. */
export class UsageSeries {
  readonly #series = new Map<string, Series>();
  readonly #gpus = new Map<string, GpuSeries>();

  /** Adds an event of the job. @param event.at when it was received, for a service that does not say when it measured. */
  push({ event, data, at }: { readonly event: string; readonly data: unknown; readonly at: string }): void {
    if (event !== 'usage') return;
    const time = [textField(data, 'at') ?? at, at].map(Date.parse).find(Number.isFinite);
    if (time === undefined) return;
    for (const name of USAGE_NAMES) {
      const value = numberField(data, name);
      if (value === undefined || value < 0) continue;
      const series = this.#series.get(name) ?? new Series();
      this.#series.set(name, series);
      series.push(time, value);
    }
    for (const { gpu, used, memory_bytes: memory } of devices.safeParse(data).data?.gpu_devices ?? []) {
      const series = this.#gpus.get(gpu) ?? { used: new Series(), memory: new Series() };
      if (!this.#gpus.has(gpu) && this.#gpus.size === MAX_DEVICES) continue;
      this.#gpus.set(gpu, series);
      series.used.push(time, used);
      series.memory.push(time, memory);
    }
  }

  /** Of a job with several GPUs, by their numbers. */
  get gpus(): ReadonlyMap<string, GpuSeries> {
    return this.#gpus;
  }

  /** Undefined if the service does not measure it. Positions are milliseconds since 1970. */
  get(name: UsageName): Series | undefined {
    return this.#series.get(name);
  }
}
