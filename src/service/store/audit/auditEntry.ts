const MAX_TEXT = 300;
const MAX_ENTRY_BYTES = 16_384;

/** Who did something, as the command that did it says. */
export interface Operator {
  /** The user of the operating system. */
  readonly user: string;
  /** Absent on Windows. */
  readonly uid?: number;
  /** Who called `sudo`, if anyone did. */
  readonly sudo_user?: string;
}

/** One thing that an operator has done or tried. It never has a key or a secret. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly operator: Operator;
  /** Such as `accounts.disable`. */
  readonly verb: string;
  readonly account_id?: string;
  readonly key_id?: string;
  readonly job_id?: string;
  /** What was asked for. */
  readonly input?: unknown;
  /** The state of the account or the key before and after; null if it did not exist. */
  readonly before?: unknown;
  readonly after?: unknown;
  /** `done`, or the code of the error and its message. */
  readonly outcome: string;
}

/** The entry as JSON of at most 16 KB. Longer texts are cut, and an entry that is still too large loses its states. */
export function serializeEntry(entry: AuditEntry): string {
  const cut = (_: string, value: unknown): unknown =>
    typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  const text = JSON.stringify(entry, cut);
  if (Buffer.byteLength(text) <= MAX_ENTRY_BYTES) return text;
  const { input: _input, before: _before, after: _after, ...rest } = entry;
  return JSON.stringify({ ...rest, after: 'too large to be stored' }, cut);
}
