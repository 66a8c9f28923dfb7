import type { DatabaseSync } from 'node:sqlite';
import { AppError } from '../../../core/errors.ts';
import { integer, type RecordOf, rowReader, text } from '../database/tableColumns.ts';
import { prepareAll, type Statements } from '../database/sqlStatements.ts';

export const IDENTITY_TABLE = `
  CREATE TABLE IF NOT EXISTS identities (
    issuer    TEXT NOT NULL,
    subject   TEXT NOT NULL,
    account   TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject),
    UNIQUE (account)
  ) STRICT, WITHOUT ROWID`;
const COLUMNS = {
  issuer: text('issuer'),
  /** The only identifier of a person that the provider never reassigns (OpenID Connect Core 1.0, section 5.7). */
  subject: text('subject'),
  account: text('account'),
  /** Milliseconds since 1970. */
  linkedAt: integer('linked_at'),
};
/** A person of an identity provider, and their account. */
export type Identity = RecordOf<typeof COLUMNS>;

const toIdentity = rowReader(COLUMNS);
const SQL = {
  find: 'SELECT * FROM identities WHERE issuer = ? AND subject = ?',
  ofAccount: 'SELECT * FROM identities WHERE account = ?',
  link: 'INSERT OR IGNORE INTO identities (issuer, subject, account, linked_at) VALUES (?, ?, ?, ?)',
  unlink: 'DELETE FROM identities WHERE account = ?',
};

/** Which accounts belong to people who sign in. An account has at most one identity, and an identity at most one account. */
export class IdentityTable {
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync) {
    this.#sql = prepareAll(database, SQL);
  }

  find(issuer: string, subject: string): Identity | undefined {
    const row = this.#sql.find.get(issuer, subject);
    return row && toIdentity(row);
  }

  ofAccount(account: string): Identity | undefined {
    const row = this.#sql.ofAccount.get(account);
    return row && toIdentity(row);
  }

  /** @throws AppError `conflict` if the account or the identity is linked already. */
  link({ issuer, subject, account, linkedAt }: Identity): void {
    const { changes } = this.#sql.link.run(issuer, subject, account, linkedAt);
    if (changes > 0) return;
    const other = this.find(issuer, subject)?.account;
    const message =
      other === undefined
        ? `The account "${account}" is linked to another person. Remove that first:  farwharf admin account unlink ${account}`
        : `This person has the account "${other}". Remove that first:  farwharf admin account unlink ${other}`;
    throw new AppError('conflict', message);
  }

  unlink(account: string): void {
    this.#sql.unlink.run(account);
  }
}
