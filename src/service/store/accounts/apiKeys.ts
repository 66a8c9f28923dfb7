import { hash, randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import { integer, nullable, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

const KEY_BYTES = 32;
const ID_BYTES = 4;
// The precision of "last used", because a write for each request would cost more than most requests.
const USE_RESOLUTION_MS = 60_000;

/** What a key can be restricted to. */
export const SCOPES = ['submit', 'read', 'cancel', 'secrets', 'connect'] as const;
export type KeyScope = (typeof SCOPES)[number];

/** A key as the table stores it, without its digest. Times in milliseconds since 1970. */
export const KEY_COLUMNS = {
  /** Identifies the key in lists and commands, and says nothing about it. */
  id: text('id'),
  account: text('account'),
  label: text('label'),
  createdAt: integer('created_at'),
  expiresAt: nullable(integer('expires_at')),
  revokedAt: nullable(integer('revoked_at')),
  lastUsedAt: nullable(integer('last_used_at')),
  /** Micro-credits that all jobs of this key together may cost; null for no limit of its own. */
  budget: nullable(integer('budget')),
  /** The scopes of a restricted key, separated by commas. */
  scopes: nullable(text('scopes')),
};
export type StoredKey = RecordOf<typeof KEY_COLUMNS>;
type NewKey = Pick<StoredKey, 'account' | 'label' | 'createdAt' | 'expiresAt'> &
  Partial<Pick<StoredKey, 'budget' | 'scopes'>>;
const toKey = rowReader(KEY_COLUMNS);

const SQL = {
  byDigest: 'SELECT * FROM api_keys WHERE digest = ?',
  get: 'SELECT * FROM api_keys WHERE id = ?',
  list: 'SELECT * FROM api_keys WHERE account = coalesce(?, account) ORDER BY account, created_at, id',
  insert: `INSERT INTO api_keys (id, account, digest, label, created_at, expires_at, budget, scopes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  revoke: 'UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  use: 'UPDATE api_keys SET last_used_at = ? WHERE id = ?',
};

/**
 * The table of keys. A key is 256 random bits, of which the store has only the SHA-256.
 *
 * A slow hash, as for passwords, would not help: nobody can try 2^256 keys, however fast one attempt is. A lookup by digest
 * in an index does not leak by its timing either: the digest of a guess is unrelated to the guess, so knowing how far two
 * digests agree does not help to choose the next guess.
 */
export class ApiKeyTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  /** Creates a key for an account that exists. The secret is only in the result, and stored nowhere. */
  add({ account, label, createdAt, expiresAt, budget = null, scopes = null }: NewKey): {
    readonly key: StoredKey;
    readonly secret: string;
  } {
    const secret = `fw_${randomBytes(KEY_BYTES).toString('base64url')}`;
    const id = randomBytes(ID_BYTES).toString('hex');
    this.#sql.insert.run(id, account, keyDigest(secret), label, createdAt, expiresAt, budget, scopes);
    return { key: this.get(id), secret };
  }

  /** The key with this digest, even if it is revoked or expired. */
  find(digest: Buffer): StoredKey | undefined {
    const row = this.#sql.byDigest.get(digest);
    return row && toKey(row);
  }

  /** @throws AppError `missing` if the key does not exist. */
  get(id: string): StoredKey {
    const row = this.#sql.get.get(id);
    if (row === undefined) throw new AppError('missing', `Key ${id} does not exist.`);
    return toKey(row);
  }

  /** The keys of one account or of all, oldest first, including invalid ones. */
  list(account?: string): readonly StoredKey[] {
    return this.#sql.list.all(account ?? null).map(toKey);
  }

  /** Revokes a key for good. A second call changes nothing. */
  revoke(id: string, at: number): StoredKey {
    this.#sql.revoke.run(at, id);
    return this.get(id);
  }

  /** Records that a key was used, at most once a minute. */
  noteUse({ id, lastUsedAt }: StoredKey, at: number): void {
    if (at - (lastUsedAt ?? 0) >= USE_RESOLUTION_MS) this.#sql.use.run(at, id);
  }
}

/** Whether a key may be used for this. A key without scopes may be used for everything. */
export function hasScope({ scopes }: Pick<StoredKey, 'scopes'>, scope: KeyScope): boolean {
  return scopes === null || scopes.split(',').includes(scope);
}

/** What the store has of a key. */
export function keyDigest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
