import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { line } from './accountOperations.ts';
import { adminTime, type AdminContext, operation, showAdminTime } from './operation.ts';
import { writeBackup } from '../folders/writeBackup.ts';
import { AppError } from '../../core/errors.ts';

const drainState = z.object({
  /** Since when the service has been drained; null unless it is. */
  drained_at: adminTime.nullable(),
  reason: z.string().nullable(),
  /** Jobs that run, or that the executor has. */
  active_jobs: z.int(),
  waiting_jobs: z.int(),
});

export type DrainState = z.infer<typeof drainState>;

const drainAudit = {
  target: () => ({}),
  state: (store: AdminContext['store']) => showDrain({ store }),
};

export const serviceOperations = {
  /** If it is repeated, a new reason replaces the old one. */
  'service.drain': operation({
    input: z.object({ reason: line.optional() }),
    output: drainState,
    audit: drainAudit,
    run(context, { reason }) {
      const { drain } = context.store;
      const before = drain.get();
      drain.set({ since: before?.since ?? Date.now(), reason: reason?.trim() || (before?.reason ?? null) });
      return showDrain(context);
    },
  }),
  /** The caller then starts waiting jobs. */
  'service.resume': operation({
    input: z.object({}),
    output: drainState,
    audit: drainAudit,
    run(context) {
      context.store.drain.clear();
      return showDrain(context);
    },
  }),
  'service.drained': operation({ input: z.object({}), output: drainState, run: showDrain }),
  'backup.write': operation({
    input: z.object({ file: z.string().refine(isAbsolute, 'must be an absolute path') }),
    output: z.object({
      file: z.string(),
      bytes: z.int(),
      sha256: z.string(),
      jobs: z.int(),
      unfinished_jobs: z.int(),
      results: z.int(),
    }),
    async run({ store, data, operator }, { file }) {
      // Before it is written, so that the copy has the entry too.
      store.audit.append({
        at: new Date().toISOString(),
        operator,
        verb: 'backup.write',
        input: { file },
        outcome: 'begun',
      });
      const { manifest, bytes, sha256 } = await writeBackup(store, data, file);
      const { jobs, unfinished_jobs, results } = manifest;
      return { file, bytes, sha256, jobs, unfinished_jobs, results };
    },
  }),
  /** A link that opens the operator's page once. The audit trail records who requested it, but not the link. */
  'page.link': operation({
    input: z.object({}),
    output: z.object({ url: z.string(), expires_at: adminTime }),
    audit: { target: () => ({}), state: () => null },
    run({ page }) {
      if (page === undefined) {
        const message =
          'No service with a page is running on this data folder. Start it, and check that its configuration does not set enabled = false in [page].';
        throw new AppError('conflict', message);
      }
      const { code, lifeMs } = page.links.create();
      return { url: `${page.url()}/operator?code=${code}`, expires_at: new Date(Date.now() + lifeMs).toISOString() };
    },
  }),
};

function showDrain({ store, activeJobs }: Pick<AdminContext, 'store' | 'activeJobs'>): DrainState {
  const drain = store.drain.get();
  const unfinished = store.unfinished.count;
  // Without a running service, the jobs that have left the queue; some of their runners may have ended since.
  const active = activeJobs?.() ?? unfinished - store.jobs.queued().count;
  return {
    drained_at: showAdminTime(drain?.since ?? null),
    reason: drain?.reason ?? null,
    active_jobs: active,
    waiting_jobs: Math.max(0, unfinished - active),
  };
}
