import { createHmac, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';

/** What the service allows a job's runner: how long the job may be frozen in all. */
const holdOrder = z.object({
  /** Seconds. */
  hold: z.int().nonnegative(),
  /** Whether a frozen job continues now, and is not frozen again. */
  isOver: z.boolean(),
  /** Proves that the service wrote this, if it has a secret with the runner. */
  seal: z.string().optional(),
});
export type HoldOrder = Omit<z.infer<typeof holdOrder>, 'seal'>;

/** The order as a text that only the holder of the secret can write, because a job that is not isolated could write one itself. */
export function writeHoldOrder({ hold, isOver }: HoldOrder, secret: string | undefined): object {
  return { hold, isOver, ...(secret !== undefined && { seal: sealOf({ hold, isOver }, secret) }) };
}

/** Undefined for a text that the holder of the secret did not write. */
export function parseHoldOrder(text: string, secret: string | undefined): HoldOrder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { data } = holdOrder.safeParse(value);
  if (data === undefined) return undefined;
  const { seal = '', ...order } = data;
  return secret === undefined || isEqual(seal, sealOf(order, secret)) ? order : undefined;
}

function sealOf({ hold, isOver }: HoldOrder, secret: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['hold', hold, isOver]))
    .digest('hex');
}

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
