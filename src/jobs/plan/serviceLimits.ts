import { CONTENT_FEATURE } from '../../remote/protocol/contents.ts';
import { receivedAccount } from '../../remote/protocol/schemas.ts';
import { classNames } from '../../remote/protocol/spellings.ts';

/** The limits that a service states for an account; undefined for those it does not state. */
export interface ServiceLimits {
  /** Whether the service states limits at all. */
  readonly isStated: boolean;
  /** Seconds. */
  readonly maxRuntime: number | undefined;
  readonly maxUploadBytes: number | undefined;
  /** Seconds that a job may be frozen. */
  readonly maxHold: number | undefined;
}

/** The limits in the response of `GET /v1/me`. Limits in an unknown format count as not stated. */
export function readLimits(account: unknown): ServiceLimits {
  const limits = receivedAccount.safeParse(account).data?.limits ?? undefined;
  return {
    isStated: limits !== undefined,
    maxRuntime: positive(limits?.max_runtime),
    maxUploadBytes: positive(limits?.max_upload_bytes),
    maxHold: positive(limits?.max_hold),
  };
}

/** Whether a service takes submissions by content. */
export function takesContents(account: unknown): boolean {
  return readFeatures(account).includes(CONTENT_FEATURE);
}

/** What a service offers beyond the specification, from the response of `GET /v1/me`. */
export function readFeatures(account: unknown): readonly string[] {
  return receivedAccount.safeParse(account).data?.features ?? [];
}

/**
 * The machine classes of a rate card, each with all its names, the usual one first. Undefined if there is no rate card, or if a row
 * names no class, because then any name may be valid.
 */
export function readMachineClasses(account: unknown): readonly (readonly string[])[] | undefined {
  const classes = (receivedAccount.safeParse(account).data?.rate_card ?? []).map(classNames);
  return classes.length === 0 || classes.some((names) => names.length === 0) ? undefined : classes;
}

/** Why no job of a machine class can run; undefined if the service does not say that. */
export function whyUnavailable(account: unknown, name: string): string | undefined {
  const card = receivedAccount.safeParse(account).data?.rate_card ?? [];
  return card.find((item) => classNames(item).includes(name))?.unavailable ?? undefined;
}

function positive(amount: number | null | undefined): number | undefined {
  return typeof amount === 'number' && amount > 0 ? amount : undefined;
}
