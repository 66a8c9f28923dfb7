import * as z from 'zod';
import { toCredits, toMicro } from '../../store/accounts/credits.ts';
import { accountAudit, accountId, accountView, credits, line, showAccount } from './accountOperations.ts';
import { adminTime, operation, showAdminTime } from './operation.ts';

const MAX_ENTRIES = 10_000;

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
