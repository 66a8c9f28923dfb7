import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { type StoredKey, hasScope, SCOPES } from '../store/accounts/apiKeys.ts';
import { toCredits, toMicro } from '../store/accounts/creditLedger.ts';
import type { Store } from '../store/store.ts';
import { credits, line } from './accountOperations.ts';
import { adminTime, type AuditTarget, operation, showAdminTime } from './operation.ts';

const keyView = z.object({
  key_id: z.string(),
  account_id: z.string(),
  label: z.string(),
  state: z.enum(['valid', 'expired', 'revoked']),
  created_at: adminTime,
  expires_at: adminTime.nullable(),
  revoked_at: adminTime.nullable(),
  last_used_at: adminTime.nullable(),
  /** The total credits that the jobs of the key may cost; null for no limit of its own. */
  budget: z.number().nullable(),
  /** What is left of the budget, after subtracting the holds of unfinished jobs. */
  budget_left: z.number().nullable(),
  /** Null for all. */
  scopes: z.array(z.enum(SCOPES)).nullable(),
});
export type AdminKey = z.infer<typeof keyView>;

const keyState = (store: Store, { key_id: id = '' }: AuditTarget): AdminKey => showKey(store, store.keys.get(id));

export const keyOperations = {
  'keys.add': operation({
    input: z.object({
      account_id: z.string(),
      label: line.max(100).default(''),
      expires_at: adminTime.optional(),
      budget: credits.min(0).optional(),
      scopes: z.array(z.enum(SCOPES)).min(1).optional(),
    }),
    /** `key` is the key itself, shown only this once. */
    output: keyView.extend({ key: z.string() }),
    audit: {
      target: ({ account_id }, output) => ({ account_id, ...(output && { key_id: output.key_id }) }),
      state: keyState,
    },
    run({ store }, { account_id: id, label, expires_at: expires, budget, scopes }) {
      const createdAt = Date.now();
      const expiresAt = expires === undefined ? null : Date.parse(expires);
      if (expiresAt !== null && expiresAt <= createdAt) {
        throw new AppError(
          'bad-input',
          `A key that expires at ${expires} would never be valid. Specify a time in the future.`,
        );
      }
      const { id: account } = store.accounts.get(id);
      const { key, secret } = store.keys.add({
        account,
        label,
        createdAt,
        expiresAt,
        budget: budget === undefined ? null : toMicro(budget),
        scopes: scopes === undefined ? null : [...new Set(scopes)].join(','),
      });
      return { ...showKey(store, key), key: secret };
    },
  }),
  'keys.list': operation({
    input: z.object({ account_id: z.string().optional() }),
    output: z.object({ keys: z.array(keyView) }),
    run: ({ store }, { account_id: id }) => ({
      keys: store.keys.list(id === undefined ? undefined : store.accounts.get(id).id).map((key) => showKey(store, key)),
    }),
  }),
  /** Replaces a key by a new one with the same restrictions, and what is left of its budget, in one step. */
  'keys.rotate': operation({
    input: z.object({ key_id: z.string() }),
    /** The new key, shown only this once, and the ID of the one that is revoked. */
    output: keyView.extend({ key: z.string(), replaced_key_id: z.string() }),
    audit: {
      target: ({ key_id }, output) => ({
        key_id: output?.key_id ?? key_id,
        ...(output && { account_id: output.account_id }),
      }),
      state: keyState,
    },
    run({ store }, { key_id: id }) {
      const at = Date.now();
      const { account, label, expiresAt, revokedAt, scopes } = store.keys.get(id);
      if (revokedAt !== null || (expiresAt !== null && expiresAt <= at)) {
        const message = `Key ${id} is not valid any more. Create a new one:  farwharf admin key add ${account}`;
        throw new AppError('bad-input', message);
      }
      const left = store.keyBudgets.left(id);
      const budget = left === undefined ? null : Math.max(0, left);
      const { key, secret } = store.keys.add({ account, label, createdAt: at, expiresAt, budget, scopes });
      store.keys.revoke(id, at);
      return { ...showKey(store, key), key: secret, replaced_key_id: id };
    },
  }),
  'keys.revoke': operation({
    input: z.object({ key_id: z.string() }),
    output: keyView,
    audit: {
      target: ({ key_id }, output) => ({ key_id, ...(output && { account_id: output.account_id }) }),
      state: keyState,
    },
    run: ({ store }, { key_id: id }) => showKey(store, store.keys.revoke(id, Date.now())),
  }),
};

function showKey(store: Store, key: StoredKey): AdminKey {
  const { id, account, label, createdAt, expiresAt, revokedAt, lastUsedAt, budget, scopes } = key;
  const left = store.keyBudgets.left(id);
  const isExpired = expiresAt !== null && expiresAt <= Date.now();
  return {
    key_id: id,
    account_id: account,
    label,
    state: revokedAt === null ? (isExpired ? 'expired' : 'valid') : 'revoked',
    created_at: showAdminTime(createdAt),
    expires_at: showAdminTime(expiresAt),
    revoked_at: showAdminTime(revokedAt),
    last_used_at: showAdminTime(lastUsedAt),
    budget: budget === null ? null : toCredits(budget),
    budget_left: left === undefined ? null : toCredits(left),
    scopes: scopes === null ? null : SCOPES.filter((scope) => hasScope(key, scope)),
  };
}
