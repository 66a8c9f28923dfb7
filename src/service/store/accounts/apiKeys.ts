import { createHash, randomBytes } from 'node:crypto';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';

const KEY_BYTES = 32;
const ID_BYTES = 4;
// How exact "last used" is: a write for each request would cost more than most requests.
const USE_RESOLUTION_MS = 60_000;

/** A key as the store keeps it: what it opens, never what it is. Times in milliseconds since 1970. */
export interface ApiKey {
  /** What the key is called in lists and commands; tells nothing of the key. */
  readonly id: string;
  readonly account: string;
  readonly label: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/**
 * The table of keys. A key is 256 random bits, of which the store keeps the SHA-256 alone.
 *
 * A slow hash, as for passwords, would protect nothing here: no one can try 2^256 keys, however fast a try is. Looking a
 * key up by its digest in an index gives no time to measure either: the digest of a guess has nothing to do with the guess,
 * so whoever learns how far two digests agree cannot make the next guess agree further.
 */
export class ApiKeyTable {
  readonly #byDigest: StatementSync;
  readonly #get: StatementSync;
  readonly #list: StatementSync;
  readonly #insert: StatementSync;
  readonly #revoke: StatementSync;
  readonly #use: StatementSync;

  constructor(database: DatabaseSync) {
    this.#byDigest = database.prepare('SELECT * FROM api_keys WHERE digest = ?');
    this.#get = database.prepare('SELECT * FROM api_keys WHERE id = ?');
    this.#list = database.prepare(
      'SELECT * FROM api_keys WHERE account = coalesce(?, account) ORDER BY account, created_at, id',
    );
    this.#insert = database.prepare(
      'INSERT INTO api_keys (id, account, digest, label, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#revoke = database.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL');
    this.#use = database.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?');
  }

  /** Makes a key for an account that exists. The secret is in the answer and nowhere else, now or later. */
  add(key: Pick<ApiKey, 'account' | 'label' | 'createdAt' | 'expiresAt'>): {
    readonly key: ApiKey;
    readonly secret: string;
  } {
    const secret = `fw_${randomBytes(KEY_BYTES).toString('base64url')}`;
    const id = randomBytes(ID_BYTES).toString('hex');
    this.#insert.run(id, key.account, keyDigest(secret), key.label, key.createdAt, key.expiresAt);
    return { key: this.get(id), secret };
  }

  /** The key with this digest, whatever has become of it. */
  find(digest: Buffer): ApiKey | undefined {
    const row = this.#byDigest.get(digest);
    return row && toKey(row);
  }

  /** @throws AppError `missing` when there is no key of this id. */
  get(id: string): ApiKey {
    const row = this.#get.get(id);
    if (row === undefined) throw new AppError('missing', `There is no key ${id}.`);
    return toKey(row);
  }

  /** The keys of one account or of all, oldest first, those that are not valid any more among them. */
  list(account?: string): readonly ApiKey[] {
    return this.#list.all(account ?? null).map(toKey);
  }

  /** Ends a key for good; one that was revoked before stays as it was. */
  revoke(id: string, at: number): ApiKey {
    this.#revoke.run(at, id);
    return this.get(id);
  }

  /** Notes that a key was used, at most once a minute. */
  noteUse({ id, lastUsedAt }: ApiKey, at: number): void {
    if (at - (lastUsedAt ?? 0) >= USE_RESOLUTION_MS) this.#use.run(at, id);
  }
}

/** What the store keeps of a key. */
export function keyDigest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function toKey(row: Record<string, SQLOutputValue>): ApiKey {
  const time = (column: string): number | null => (row[column] === null ? null : Number(row[column]));
  return {
    id: String(row['id']),
    account: String(row['account']),
    label: String(row['label']),
    createdAt: Number(row['created_at']),
    expiresAt: time('expires_at'),
    revokedAt: time('revoked_at'),
    lastUsedAt: time('last_used_at'),
  };
}
