import * as z from 'zod';
import { auditEntry } from '../store/accounts/auditEntry.ts';
import { adminTime, operation } from './operation.ts';

const MAX_ENTRIES = 10_000;
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits');

const auditView = z.object({ number: z.int(), hash: z.string(), ...auditEntry.shape });

export const auditOperations = {
  'audit.list': operation({
    input: z.object({
      account_id: z.string().optional(),
      key_id: z.string().optional(),
      job_id: z.string().optional(),
      /** Or the part before its dot, such as `accounts`. */
      verb: z.string().optional(),
      user: z.string().optional(),
      from: adminTime.optional(),
      limit: z.int().min(1).max(MAX_ENTRIES).default(50),
    }),
    output: z.object({ entries: z.array(auditView) }),
    run({ store }, { account_id: account, key_id: key, job_id: job, verb, user, from, limit }) {
      const entries: z.infer<typeof auditView>[] = [];
      for (const entry of store.audit.newestFirst()) {
        if (entries.length === limit || (from !== undefined && entry.at < from)) break;
        const { operator } = entry;
        const isMeant =
          (account === undefined || entry.account_id === account) &&
          (key === undefined || entry.key_id === key) &&
          (job === undefined || entry.job_id === job) &&
          (verb === undefined || entry.verb === verb || entry.verb.startsWith(`${verb}.`)) &&
          (user === undefined || operator.user === user || operator.sudo_user === user);
        if (isMeant) entries.push(auditView.parse(entry));
      }
      return { entries };
    },
  }),
  'audit.verify': operation({
    input: z.object({ expected: hash.optional() }),
    output: z.object({
      entries: z.int(),
      hash: z.string().nullable(),
      broken: z.object({ number: z.int(), why: z.string() }).nullable(),
      has_expected: z.boolean(),
    }),
    async run({ store }, { expected }) {
      const { entries, hash: last, broken, hasExpected } = await store.audit.check(expected);
      return { entries, hash: last, broken: broken === undefined ? null : { ...broken }, has_expected: hasExpected };
    },
  }),
};
