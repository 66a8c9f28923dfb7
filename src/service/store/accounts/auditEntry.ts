import * as z from 'zod';

const MAX_TEXT = 300;
const MAX_ENTRY_BYTES = 16_384;

const operator = z.object({
  /** The user of the operating system. */
  user: z.string(),
  /** Absent on Windows. */
  uid: z.int().optional(),
  /** Who called `sudo`, if anyone did. */
  sudo_user: z.string().optional(),
});

/** Who did something, as the command that did it says. */
export type Operator = Readonly<z.infer<typeof operator>>;

export const auditEntry = z.object({
  /** ISO 8601, UTC. */
  at: z.string(),
  operator,
  /** Such as `accounts.disable`. */
  verb: z.string(),
  account_id: z.string().optional(),
  key_id: z.string().optional(),
  job_id: z.string().optional(),
  /** What was asked for. */
  input: z.unknown().optional(),
  /** The state of the account or the key before and after; null if it did not exist. */
  before: z.unknown().optional(),
  after: z.unknown().optional(),
  /** `done`, or the code of the error and its message. */
  outcome: z.string(),
});

/** One thing that an operator has done or tried. It never has a key or a secret. */
export type AuditEntry = Readonly<z.infer<typeof auditEntry>>;

/** The entry as JSON of at most 16 KB. Longer texts are cut, and an entry that is still too large loses its states. */
export function serializeEntry(entry: AuditEntry): string {
  const cut = (_: string, value: unknown): unknown =>
    typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  const text = JSON.stringify(entry, cut);
  if (Buffer.byteLength(text) <= MAX_ENTRY_BYTES) return text;
  const { input: _input, before: _before, after: _after, ...rest } = entry;
  return JSON.stringify({ ...rest, after: 'too large to be stored' }, cut);
}
