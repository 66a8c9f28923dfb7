import { createHash } from 'node:crypto';
import type { AuditEntry } from './auditEntry.ts';
import type { AuditTable } from './auditTable.ts';

const START = 'service.start';
// The trail contains no secrets, so it does not show a changed one.
const SECRET = 'metrics.token';
const MAX_VALUE = 200;

/** What a start stores of the configuration. */
interface RecordedStart {
  readonly version: string;
  /** SHA-256 of the settings without secrets. */
  readonly sha256: string;
  /** By their paths, if they are not those of the start before. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

interface StartFacts extends Pick<AuditEntry, 'operator'> {
  readonly version: string;
  /** What `--confirm-retention` confirmed, as a sentence. */
  readonly deletion: string | undefined;
}

/** Adds the start of a service, with the settings that have changed since the last one: `before` and `after`. */
export function recordStart(
  audit: Pick<AuditTable, 'append' | 'newestFirst'>,
  config: object,
  { operator, version, deletion }: StartFacts,
): void {
  if (deletion !== undefined) {
    const at = new Date().toISOString();
    audit.append({ at, operator, verb: 'retention.confirm', input: { deletion }, outcome: 'done' });
  }
  const settings = Object.fromEntries(flatten(config, ''));
  const sha256 = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
  const last = lastSettings(audit);
  const entry = { at: new Date().toISOString(), operator, verb: START, outcome: 'done' };
  if (JSON.stringify(last) === JSON.stringify(settings)) {
    return audit.append({ ...entry, after: { version, sha256 } satisfies RecordedStart });
  }
  const changed = Object.keys({ ...last, ...settings }).filter(
    (path) => JSON.stringify(last?.[path]) !== JSON.stringify(settings[path]),
  );
  const after: RecordedStart = { version, sha256, settings };
  audit.append({ ...entry, input: { changed }, ...(last && { before: pick(last, changed) }), after });
}

/** The settings of the last start that stored them; undefined without one. */
function lastSettings(audit: Pick<AuditTable, 'newestFirst'>): Readonly<Record<string, unknown>> | undefined {
  for (const { verb, after } of audit.newestFirst()) {
    if (verb === START && after instanceof Object && 'settings' in after && after.settings instanceof Object) {
      return Object.fromEntries(Object.entries(after.settings));
    }
  }
  return undefined;
}

function pick(settings: Readonly<Record<string, unknown>>, paths: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(paths.map((path) => [path, settings[path] ?? null]));
}

/** The settings by their paths, such as `limits.uploads`; machine classes by their names. */
function flatten(value: object, prefix: string): [string, unknown][] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]): [string, unknown][] => {
    const name = Array.isArray(value) && inner instanceof Object && 'name' in inner ? String(inner.name) : key;
    const path = `${prefix}${name}`;
    if (path === SECRET) return [[path, 'set']];
    if (inner instanceof Object) return flatten(inner, `${path}.`);
    const isLong = typeof inner === 'string' && inner.length > MAX_VALUE;
    return inner === undefined
      ? []
      : [[path, isLong ? `sha256:${createHash('sha256').update(inner).digest('hex')}` : inner]];
  });
}
