/** Why a job waits for what its machine class reserves, as the service writes it into `reason` and its clients read it. Amounts of memory are GB. */
export type WaitingReason = {
  readonly resource: 'gpus' | 'memory' | 'cpus';
  readonly needed: number;
} & (
  | {
      readonly type: 'in-use';
      readonly used: number;
      readonly of: number;
      /** When the first of what is in use is free at the latest, in milliseconds, to the minute. */
      readonly freeAt: number;
    }
  /** It would delay a job that has waited longer. */
  | { readonly type: 'kept' }
  /** Many jobs wait before it. */
  | { readonly type: 'behind' }
  /** The machine has so many now, which are too few. */
  | { readonly type: 'absent'; readonly of: number }
);

const MINUTE = 60_000;
// Without a date, a time is the next one of that name.
const DAY = 24 * 60 * MINUTE;
const NAMES = { gpus: ['GPU', 'GPUs'], memory: ['GB of memory', 'GB of memory'], cpus: ['core', 'cores'] } as const;
const AMOUNT = String.raw`(\d+(?:\.\d+)?)`;
const PATTERN = new RegExp(
  `^The job waits for ${AMOUNT} (GPUs?|GB of memory|cores?): (?:${AMOUNT} of ${AMOUNT} in use, the first free by (?:(\\d{4}-\\d\\d-\\d\\d) )?(\\d\\d:\\d\\d) UTC|the machine has ${AMOUNT} now|(kept for a job before it)|(others wait before it))\\.$`,
);

/** A sentence. @param now milliseconds. */
export function writeWaitingReason(reason: WaitingReason, now: number): string {
  const { resource, needed } = reason;
  return `The job waits for ${needed} ${NAMES[resource][needed === 1 ? 0 : 1]}: ${detail(reason, now)}.`;
}

function detail(reason: WaitingReason, now: number): string {
  switch (reason.type) {
    case 'in-use':
      return `${reason.used} of ${reason.of} in use, the first free by ${shownTime(reason.freeAt, now)} UTC`;
    case 'absent':
      return `the machine has ${reason.of} now`;
    case 'kept':
      return 'kept for a job before it';
    case 'behind':
    default:
      return 'others wait before it';
  }
}

/** Rounded up to the minute, so that the sentence seldom changes. */
function shownTime(at: number, now: number): string {
  const text = new Date(Math.ceil(at / MINUTE) * MINUTE).toISOString();
  const time = text.slice(11, 16);
  return at - now < DAY - 2 * MINUTE ? time : `${text.slice(0, 10)} ${time}`;
}

/** Undefined for any other sentence. @param now milliseconds. */
export function readWaitingReason(text: string, now: number): WaitingReason | undefined {
  const [found, needed, name = '', used, of, date, time, present, kept] = PATTERN.exec(text) ?? [];
  if (found === undefined) return undefined;
  const about = { resource: resourceOf(name), needed: Number(needed) } as const;
  if (time !== undefined) {
    const freeAt = date === undefined ? nextTime(time, now) : Date.parse(`${date}T${time}Z`);
    return { ...about, type: 'in-use', used: Number(used), of: Number(of), freeAt };
  }
  if (present !== undefined) return { ...about, type: 'absent', of: Number(present) };
  return { ...about, type: kept === undefined ? 'behind' : 'kept' };
}

function resourceOf(name: string): WaitingReason['resource'] {
  if (name.startsWith('GPU')) return 'gpus';
  return name.startsWith('GB') ? 'memory' : 'cpus';
}

/** The time of day that is the nearest one to `now`, of which an older sentence may name one that has passed. */
function nextTime(time: string, now: number): number {
  const today = Date.parse(`${new Date(now).toISOString().slice(0, 10)}T${time}Z`);
  // A sentence that is a little older names a time that has passed.
  return today < now - 60 * MINUTE ? today + DAY : today;
}
