import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { type StoredAccount, LOCAL_ACCOUNT } from '../store/accounts/accountTable.ts';
import { toCredits, toMicro } from '../store/accounts/creditLedger.ts';
import type { Store } from '../store/store.ts';
import { adminTime, type AuditTarget, operation, showAdminTime } from './operation.ts';

const MAX_CREDITS = 1e9;
const MAX_ENTRIES = 10_000;

/** A text that fits in a table. */
export const line = z
  .string()
  .regex(/^[^\r\n]*$/, 'must be one line')
  .max(200);
const accountId = z.object({ account_id: z.string() });
/** Negative to take credits back. */
export const credits = z.number().min(-MAX_CREDITS).max(MAX_CREDITS);
const limit = z.int().min(0).nullable();

/** An account's own limits; null means the service's default. */
const limits = z.strictObject({
  running_jobs: limit,
  queued_jobs: limit,
  upload_bytes: limit,
  uploads: limit,
  streams: limit,
  disk_bytes: limit,
  run_time: z.int().min(1).nullable(),
  requests_per_minute: z.int().min(1).nullable(),
});

const accountView = z.object({
  account_id: z.string(),
  name: z.string(),
  plan: z.string(),
  /** The group that it belongs to. */
  group: z.string().nullable(),
  created_at: adminTime,
  disabled_at: adminTime.nullable(),
  credits_available: z.number(),
  credits_held: z.number(),
  credits_spent: z.number(),
  queued_jobs: z.int(),
  /** Handed to the machine or the cluster, and not finished. */
  active_jobs: z.int(),
  limits,
  /** The person of an identity provider who owns the account; null for an account that is used with keys only. */
  identity: z.object({ issuer: z.string(), subject: z.string() }).nullable(),
});

export type AdminAccount = z.infer<typeof accountView>;

/** For operations on an account. */
const accountAudit = {
  target: ({ account_id }: z.output<typeof accountId>) => ({ account_id }),
  state: (store: Store, { account_id: id = '' }: AuditTarget) => showAccount(store, store.accounts.get(id)),
};

export const accountOperations = {
  'accounts.add': operation({
    input: accountId.extend({
      name: line.optional(),
      plan: line.min(1).default('team'),
      credits: credits.min(0).default(0),
      group: z.string().optional(),
    }),
    /** `warning`: why no job can start now, as with a second account whose jobs are not isolated. */
    output: accountView.extend({ warning: z.string().optional() }),
    audit: accountAudit,
    run({ store, refusal }, { account_id: id, name = id, plan, credits: amount, group }) {
      const at = Date.now();
      const added = store.addAccount({ id, name, plan, createdAt: at });
      const account = group === undefined ? added : joinGroup(store, id, group);
      if (amount > 0) store.grant(id, { reference: 'start', amount: toMicro(amount), at });
      const warning = refusal?.();
      return { ...showAccount(store, account), ...(warning !== undefined && { warning }) };
    },
  }),
  'accounts.list': operation({
    input: z.object({}),
    output: z.object({ accounts: z.array(accountView) }),
    run: ({ store }) => ({ accounts: store.accounts.list().map((account) => showAccount(store, account)) }),
  }),
  'accounts.show': onAccount((accounts, id) => accounts.get(id)),
  'accounts.disable': changesAccount((accounts, id) => accounts.setDisabled(id, Date.now())),
  'accounts.enable': changesAccount((accounts, id) => accounts.setDisabled(id, null)),
  'accounts.edit': operation({
    /** `group`: null for none. */
    input: accountId.extend({
      name: line.optional(),
      plan: line.min(1).optional(),
      group: z.string().nullable().optional(),
    }),
    output: accountView,
    audit: accountAudit,
    run({ store }, { account_id: id, name, plan, group }) {
      const changes = { ...(name !== undefined && { name }), ...(plan !== undefined && { plan }) };
      const edited = store.accounts.edit(id, changes);
      return showAccount(store, group === undefined ? edited : joinGroup(store, id, group));
    },
  }),
  'accounts.link': operation({
    input: accountId.extend({ issuer: z.string().min(1).max(1_000), subject: z.string().min(1).max(255) }),
    output: accountView,
    audit: accountAudit,
    run({ store }, { account_id: id, issuer, subject }) {
      const account = store.accounts.get(id);
      if (id === LOCAL_ACCOUNT) throw new AppError('bad-input', `Nobody can sign in as "${LOCAL_ACCOUNT}".`);
      store.identities.link({ issuer, subject, account: id, linkedAt: Date.now() });
      return showAccount(store, account);
    },
  }),
  'accounts.unlink': changesAccount((accounts, id, { identities }) => {
    identities.unlink(id);
    return accounts.get(id);
  }),
  /**
   * Ends an account for good: its keys are revoked, nobody can sign in to it, its secrets are deleted. Its ID, jobs and credits stay in the
   * books, so that the ID is never that of another person.
   */
  'accounts.delete': operation({
    input: accountId,
    output: accountView,
    audit: accountAudit,
    run({ store }, { account_id: id }) {
      if (id === LOCAL_ACCOUNT) throw new AppError('bad-input', `The account "${LOCAL_ACCOUNT}" is the service's own.`);
      const { queued, active } = store.jobs.countOf(store.accounts.get(id).id);
      if (queued + active > 0) {
        const message = `Account ${id} has unfinished jobs: ${queued} waiting and ${active} running. Cancel them first:  farwharf admin cancel --account ${id}`;
        throw new AppError('conflict', message);
      }
      const at = Date.now();
      for (const key of store.keys.list(id)) if (key.revokedAt === null) store.keys.revoke(key.id, at);
      for (const { name } of store.secrets.list(id)) store.secrets.remove(id, name);
      store.identities.unlink(id);
      store.accounts.setGroup(id, null);
      store.accounts.edit(id, { name: 'deleted' });
      return showAccount(store, store.accounts.setDisabled(id, at));
    },
  }),
  'accounts.limit': operation({
    input: accountId.extend({ limits: limits.partial() }),
    output: accountView,
    audit: accountAudit,
    run({ store }, { account_id: id, limits: changes }) {
      return showAccount(store, store.accounts.setLimits(id, changes));
    },
  }),
};

const bookEntry = z.object({
  at: adminTime,
  kind: z.enum(['grant', 'top-up', 'job']),
  /** Negative for what was taken back, or paid for a job. */
  credits: z.number(),
  /** Of the grant; for a job its ID. */
  reference: z.string(),
  note: z.string().nullable(),
});

export const creditOperations = {
  'credits.grant': operation({
    input: accountId.extend({
      amount: credits.refine((amount) => toMicro(amount) !== 0, 'must not be zero'),
      /** A grant happens once per reference, so it can be repeated if the response was lost. */
      reference: line.min(1),
      note: line.optional(),
    }),
    output: z.object({ is_new: z.boolean(), account: accountView }),
    audit: accountAudit,
    run({ store }, { account_id: id, amount, reference, note }) {
      const grant = { reference, amount: toMicro(amount), at: Date.now(), note: note ?? null };
      const isNew = store.grant(id, grant);
      return { is_new: isNew, account: showAccount(store, store.accounts.get(id)) };
    },
  }),
  'credits.list': operation({
    input: accountId.extend({ limit: z.int().min(1).max(MAX_ENTRIES).default(50) }),
    output: z.object({ entries: z.array(bookEntry) }),
    run({ store }, { account_id: id, limit }) {
      const entries = store.creditBook.entries(store.accounts.get(id).id, limit);
      return {
        entries: entries.map(({ at, kind, amount, reference, note }) => {
          return { at: showAdminTime(at), kind, credits: toCredits(amount), reference, note };
        }),
      };
    },
  }),
};

/** An operation that needs only the account's ID, and returns the resulting account. */
function onAccount(run: (accounts: Store['accounts'], id: string, store: Store) => StoredAccount) {
  return operation({
    input: accountId,
    output: accountView,
    run: ({ store }, { account_id: id }) => showAccount(store, run(store.accounts, id, store)),
  });
}

/** The same for an operation that changes the account. */
function changesAccount(run: Parameters<typeof onAccount>[0]) {
  return operation({ ...onAccount(run), audit: accountAudit });
}

/** @throws AppError `missing` if the group does not exist. */
function joinGroup(store: Store, id: string, group: string | null): StoredAccount {
  return store.accounts.setGroup(id, group === null ? null : store.budgets.get('group', group).name);
}

function showAccount(
  store: Store,
  { id, name, plan, group, createdAt, disabledAt, limits }: StoredAccount,
): AdminAccount {
  const { available, held, spent } = store.balances(id);
  const { queued, active } = store.jobs.countOf(id);
  const identity = store.identities.ofAccount(id);
  return {
    account_id: id,
    name,
    plan,
    group,
    created_at: showAdminTime(createdAt),
    disabled_at: showAdminTime(disabledAt),
    credits_available: toCredits(available),
    credits_held: toCredits(held),
    credits_spent: toCredits(spent),
    queued_jobs: queued,
    active_jobs: active,
    limits,
    identity: identity === undefined ? null : { issuer: identity.issuer, subject: identity.subject },
  };
}
