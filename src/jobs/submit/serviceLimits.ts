import * as z from 'zod';

/** The limits that a service states for an account; undefined where it does not state one. */
export interface ServiceLimits {
  /** Whether the service states limits at all. */
  readonly isStated: boolean;
  /** Seconds. */
  readonly maxRuntime: number | undefined;
  readonly maxUploadBytes: number | undefined;
}

const amount = z.number().positive().optional().catch(undefined);
const accountWithLimits = z.looseObject({ limits: z.looseObject({ max_runtime: amount, max_upload_bytes: amount }) });

// The specification leaves the shape of the rate card open, so all likely spellings count as names.
const name = z.string().optional().catch(undefined);
const accountWithClasses = z.looseObject({
  rate_card: z.array(z.looseObject({ machine_class: name, machineClass: name, name, class: name, id: name })).min(1),
});

/** The limits in a reply of `GET /v1/me`. Limits of an unknown shape count as not stated. */
export function readLimits(account: unknown): ServiceLimits {
  const { data } = accountWithLimits.safeParse(account);
  return {
    isStated: data !== undefined,
    maxRuntime: data?.limits.max_runtime,
    maxUploadBytes: data?.limits.max_upload_bytes,
  };
}

/**
 * The machine classes of a rate card, each with all its names, the usual one first; undefined when the reply has no list, or when a
 * line of the list names no class: then any name may be right.
 */
export function readMachineClasses(account: unknown): readonly (readonly string[])[] | undefined {
  const { data } = accountWithClasses.safeParse(account);
  const classes = data?.rate_card.map(({ machine_class, machineClass, name: plain, class: kind, id }) =>
    [machine_class, machineClass, plain, kind, id].filter((one) => one !== undefined),
  );
  return classes?.some((names) => names.length === 0) ? undefined : classes;
}
