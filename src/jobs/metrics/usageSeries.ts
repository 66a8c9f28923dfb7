import type * as z from 'zod';
import { numberField, textField } from '../../core/jsonFields.ts';
import { usageEventData } from '../../remote/protocol/schemas.ts';
import { Series } from './series.ts';

const amount = usageEventData.omit({ at: true }).keyof();
/** What a service can measure of a job, in the protocol's words. */
export type UsageName = z.infer<typeof amount>;
export const USAGE_NAMES: readonly UsageName[] = amount.options;

/** Collects what a job uses from its `usage` events, which a service may leave out. */
export class UsageSeries {
  readonly #series = new Map<string, Series>();

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
  }

  /** Undefined if the service does not measure it. Positions are milliseconds since 1970. */
  get(name: UsageName): Series | undefined {
    return this.#series.get(name);
  }
}
