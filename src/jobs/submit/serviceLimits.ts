import { receivedAccount } from '../../remote/protocol/schemas.ts';
import { classNames } from '../../remote/protocol/spellings.ts';

/** The limits that a service states for an account; undefined where it does not state one. */
export interface ServiceLimits {
  /** Whether the service states limits at all. */
  readonly isStated: boolean;
  /** Seconds. */
  readonly maxRuntime: number | undefined;
  readonly maxUploadBytes: number | undefined;
}

/** The limits in a reply to `GET /v1/me`. Limits of an unknown shape count as not stated. */
export function readLimits(account: unknown): ServiceLimits {
  const limits = receivedAccount.safeParse(account).data?.limits ?? undefined;
  return {
    isStated: limits !== undefined,
    maxRuntime: positive(limits?.max_runtime),
    maxUploadBytes: positive(limits?.max_upload_bytes),
  };
}

/**
 * The machine classes of a rate card, each with all its names, the usual one first; undefined when the reply has no rate card, or when
 * a line of it names no class: then any name may be right.
 */
export function readMachineClasses(account: unknown): readonly (readonly string[])[] | undefined {
  const classes = (receivedAccount.safeParse(account).data?.rate_card ?? []).map(classNames);
  return classes.length === 0 || classes.some((names) => names.length === 0) ? undefined : classes;
}

function positive(amount: number | null | undefined): number | undefined {
  return typeof amount === 'number' && amount > 0 ? amount : undefined;
}
