import * as z from 'zod';
import { line } from './accountOperations.ts';
import { adminTime, type AdminContext, operation, showAdminTime } from './operation.ts';

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

export const drainOperations = {
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
