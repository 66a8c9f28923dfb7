import * as z from 'zod';
import type { StoredBudget, BudgetKind } from '../store/accounts/budgetTable.ts';
import { toCredits, toMicro } from '../store/accounts/creditLedger.ts';
import type { Store } from '../store/store.ts';
import { credits, line } from './accountOperations.ts';
import { adminTime, operation, showAdminTime } from './operation.ts';

const named = z.object({ name: line.min(1) });
const budget = credits.min(0).nullable();
const runningJobs = z.int().min(0).nullable();

const budgetView = z.object({
  name: z.string(),
  created_at: adminTime,
  /** Credits that all of its jobs together may cost; null for no limit. */
  credits: z.number().nullable(),
  /** What its jobs have cost, and what is reserved for those that have not ended. */
  credits_used: z.number(),
  /** Null without a limit. */
  credits_left: z.number().nullable(),
});
/** A group also has members, and a limit of jobs that run at once. */
const groupView = budgetView.extend({ running_jobs: runningJobs, account_ids: z.array(z.string()) });
export type AdminBudget = z.infer<typeof budgetView>;
export type AdminGroup = z.infer<typeof groupView>;

const groupAudit = auditOf(showGroup, 'group');
const projectAudit = auditOf((_, project) => showBudget(project), 'project');

export const budgetOperations = {
  'groups.add': operation({
    input: named.extend({
      name: line
        .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'must be letters, digits, ".", "_" and "-"')
        .refine((name) => name !== 'none', 'must not be "none"'),
      credits: budget.default(null),
      running_jobs: runningJobs.default(null),
    }),
    output: groupView,
    audit: groupAudit,
    run: ({ store }, { name, credits: most, running_jobs: running }) =>
      showGroup(
        store,
        store.budgets.add({ kind: 'group', name, createdAt: Date.now(), budget: micro(most), runningJobs: running }),
      ),
  }),
  'groups.edit': operation({
    input: named.extend({ credits: budget.optional(), running_jobs: runningJobs.optional() }),
    output: groupView,
    audit: groupAudit,
    run({ store }, { name, credits: most, running_jobs: running }) {
      const changes = {
        ...(most !== undefined && { budget: micro(most) }),
        ...(running !== undefined && { runningJobs: running }),
      };
      return showGroup(store, store.budgets.edit('group', name, changes));
    },
  }),
  'groups.list': operation({
    input: z.object({}),
    output: z.object({ groups: z.array(groupView) }),
    run: ({ store }) => ({ groups: store.budgets.list('group').map((group) => showGroup(store, group)) }),
  }),
  /** Its accounts then belong to no group. Their jobs continue. */
  'groups.remove': operation({
    input: named,
    output: groupView,
    audit: groupAudit,
    run({ store }, { name }) {
      const group = showGroup(store, store.budgets.get('group', name));
      store.accounts.dissolve(name);
      store.budgets.remove('group', name);
      return group;
    },
  }),
  'projects.add': setsProject((budgets, name, budget) =>
    budgets.add({ kind: 'project', name, createdAt: Date.now(), budget, runningJobs: null }),
  ),
  'projects.edit': setsProject((budgets, name, budget) => budgets.edit('project', name, { budget })),
  'projects.list': operation({
    input: z.object({}),
    output: z.object({ projects: z.array(budgetView) }),
    run: ({ store }) => ({ projects: store.budgets.list('project').map((project) => showBudget(project)) }),
  }),
  /** Its jobs continue, and others are accepted without limit. */
  'projects.remove': operation({
    input: named,
    output: budgetView,
    audit: projectAudit,
    run({ store }, { name }) {
      const project = showBudget(store.budgets.get('project', name));
      store.budgets.remove('project', name);
      return project;
    },
  }),
};

/** @param run gets micro-credits. */
function setsProject(run: (budgets: Store['budgets'], name: string, budget: number) => StoredBudget) {
  return operation({
    input: named.extend({ credits: credits.min(0) }),
    output: budgetView,
    audit: projectAudit,
    run: ({ store }, { name, credits: most }) => showBudget(run(store.budgets, name, toMicro(most))),
  });
}

function auditOf<View>(show: (store: Store, budget: StoredBudget) => View, kind: BudgetKind) {
  return {
    target: () => ({}),
    state: (store: Store, _: unknown, { name }: z.output<typeof named>) => show(store, store.budgets.get(kind, name)),
  };
}

function micro(amount: number | null): number | null {
  return amount === null ? null : toMicro(amount);
}

function showGroup(store: Store, group: StoredBudget): AdminGroup {
  return {
    ...showBudget(group),
    running_jobs: group.runningJobs,
    account_ids: [...store.accounts.members(group.name)],
  };
}

function showBudget({ name, createdAt, budget: most, cost }: StoredBudget): AdminBudget {
  return {
    name,
    created_at: showAdminTime(createdAt),
    credits: most === null ? null : toCredits(most),
    credits_used: toCredits(cost),
    credits_left: most === null ? null : toCredits(most - cost),
  };
}
