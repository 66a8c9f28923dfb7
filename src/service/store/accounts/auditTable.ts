import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { tryParseJson, parseOwnJson } from '../../../core/jsonFields.ts';
import { inTransaction } from '../database/database.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';
import { type AuditEntry, serializeEntry } from './auditEntry.ts';

export const AUDIT_TABLE = `
  CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY,
    entry  TEXT NOT NULL,
    hash   TEXT NOT NULL
  ) STRICT;
  CREATE TRIGGER IF NOT EXISTS audit_is_final BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'append-only'); END;
  CREATE TRIGGER IF NOT EXISTS audit_stays BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'append-only'); END;`;
const SQL = {
  insert: 'INSERT INTO audit (number, entry, hash) VALUES (?, ?, ?)',
  before: 'SELECT number, entry, hash FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?',
  after: 'SELECT number, entry, hash FROM audit WHERE number > ? ORDER BY number LIMIT ?',
};
const PAGE = 500;
const NO_HASH = '0'.repeat(64);

/** An entry as it is stored. `hash` is the SHA-256 of the hash before it, the number and the entry's text. */
export interface StoredEntry extends AuditEntry {
  readonly number: number;
  readonly hash: string;
}

/** What a check of the whole trail found. */
export interface AuditCheck {
  /** Entries up to the first broken one. */
  readonly entries: number;
  /** The hash of the last of them; null without one. */
  readonly hash: string | null;
  readonly broken: { readonly number: number; readonly why: string } | undefined;
  /** Whether an entry has the expected hash. */
  readonly hasExpected: boolean;
}

/** The audit trail: what operators have done, as entries that nothing changes or deletes, each with the hash of the one before it. */
export class AuditTable {
  readonly #database: DatabaseSync;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#sql = prepareAll(database, SQL);
  }

  /** Adds an entry, durably unless a transaction is open. */
  append(entry: AuditEntry): void {
    inTransaction(this.#database, () => {
      const last = this.#sql.before.get(Number.MAX_SAFE_INTEGER, 1);
      const number = Number(last?.['number'] ?? 0) + 1;
      const text = serializeEntry(entry);
      this.#sql.insert.run(number, text, hashOf(String(last?.['hash'] ?? NO_HASH), number, text));
    });
  }

  /** Runs `work` and adds its entry in one transaction, so that neither is stored without the other. */
  alongside<T>(work: () => T, entryOf: (result: T) => AuditEntry): T {
    return inTransaction(this.#database, () => {
      const result = work();
      this.append(entryOf(result));
      return result;
    });
  }

  /** The entries, newest first. An entry that cannot be read is left out; `check` finds it. */
  *newestFirst(): Generator<StoredEntry> {
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = this.#sql.before.all(before, PAGE);
      if (rows.length === 0) return;
      for (const row of rows) {
        before = Number(row['number']);
        const entry = readEntry(String(row['entry']));
        if (entry !== undefined) yield { ...entry, number: before, hash: String(row['hash']) };
      }
    }
  }

  /** Checks each entry against the one before it. Other work continues meanwhile. */
  async check(expected?: string): Promise<AuditCheck> {
    let [number, hash, hasExpected] = [0, NO_HASH, expected === undefined];
    const result = (why?: string): AuditCheck => ({
      entries: number,
      hash: number === 0 ? null : hash,
      broken: why === undefined ? undefined : { number: number + 1, why },
      hasExpected,
    });
    for (;;) {
      const rows = this.#sql.after.all(number, PAGE);
      if (rows.length === 0) return result();
      for (const row of rows) {
        const text = String(row['entry']);
        if (row['number'] !== number + 1) return result(`is missing; the next one is ${String(row['number'])}`);
        if (row['hash'] !== hashOf(hash, number + 1, text)) return result('does not match its hash');
        if (readEntry(text) === undefined) return result('is not an entry');
        number += 1;
        hash = row['hash'];
        hasExpected ||= hash === expected;
      }
      await nextTurn();
    }
  }
}

function hashOf(before: string, number: number, text: string): string {
  return createHash('sha256').update(`${before}\n${number}\n${text}`).digest('hex');
}

function readEntry(text: string): AuditEntry | undefined {
  const value = tryParseJson(text);
  return value instanceof Object && 'verb' in value && 'at' in value ? parseOwnJson<AuditEntry>(text) : undefined;
}
