import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../command/verb.ts';
import { jsonFlag, requiredTextFlag } from '../command/flags.ts';
import { accountVerb, creditVerb, keyVerb } from './adminAccountVerbs.ts';
import {
  ADMIN_FLAGS,
  AUDIT_FLAGS,
  CANCEL_FLAGS,
  DRAIN_FLAGS,
  GROUP_FLAGS,
  JOBS_FLAGS,
  PROJECT_FLAGS,
  USAGE_FLAGS,
} from './adminFlags.ts';

const groupVerb = defineGroup(
  {
    name: 'group',
    summary: 'groups of accounts that share credits and a limit of running jobs',
    examples: [
      ['farwharf admin group add lab --credits 500', 'add a group'],
      ['farwharf admin group list', 'list all groups and how much they have used'],
    ],
  },
  [
    defineVerb({
      name: 'add',
      summary: 'add a group; its jobs need credits of the account and of the group',
      args: [new Argument('<group>', 'name: letters, digits, ".", "_" and "-"')],
      flags: GROUP_FLAGS,
      examples: [
        ['farwharf admin group add lab --credits 500', 'add a group whose jobs can cost 500 credits'],
        ['farwharf admin group add guests --running-jobs 2', 'add a group that runs two jobs at once'],
      ],
      load: async () => (await import('./adminBudgets.ts')).addGroup,
    }),
    defineVerb({
      name: 'edit',
      summary: 'change what a group can use in total',
      args: ['<group>'],
      flags: GROUP_FLAGS,
      examples: [
        ['farwharf admin group edit lab --credits 800', 'raise the credits from 500 to 800'],
        ['farwharf admin group edit lab --running-jobs none', 'remove the limit of running jobs'],
      ],
      load: async () => (await import('./adminBudgets.ts')).editGroup,
    }),
    defineVerb({
      name: 'list',
      summary: 'list all groups with their credits and accounts',
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin group list', 'list all groups'],
        ['farwharf admin group list --json', 'list all groups as JSON'],
      ],
      load: async () => (await import('./adminBudgets.ts')).listGroups,
    }),
    defineVerb({
      name: 'remove',
      summary: 'remove a group; its accounts remain, and their jobs continue',
      args: ['<group>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin group remove lab', 'remove a group'],
        ['farwharf admin group remove lab --json', 'remove a group, and print it as JSON'],
      ],
      load: async () => (await import('./adminBudgets.ts')).removeGroup,
    }),
  ],
);

const projectVerb = defineGroup(
  {
    name: 'project',
    summary: 'budgets of projects, across all accounts that use them',
    examples: [
      ['farwharf admin project add vision --credits 100', 'give a project a budget'],
      ['farwharf admin project list', 'list the budgets and how much of them is used'],
    ],
  },
  [
    defineVerb({
      name: 'add',
      summary: 'give a project a budget; its earlier jobs count too',
      args: [new Argument('<project>', 'the name that people submit with')],
      flags: PROJECT_FLAGS,
      examples: [
        ['farwharf admin project add vision --credits 100', 'limit the jobs of a project to 100 credits in total'],
        ['farwharf admin project add vision --credits 100 --json', 'do the same and print JSON'],
      ],
      load: async () => (await import('./adminBudgets.ts')).addProject,
    }),
    defineVerb({
      name: 'edit',
      summary: 'change the budget of a project',
      args: ['<project>'],
      flags: PROJECT_FLAGS,
      examples: [
        ['farwharf admin project edit vision --credits 150', 'raise the budget from 100 to 150'],
        ['farwharf admin project edit vision --credits 0', 'accept no more jobs of the project'],
      ],
      load: async () => (await import('./adminBudgets.ts')).editProject,
    }),
    defineVerb({
      name: 'list',
      summary: 'list the projects that have a budget',
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin project list', 'list the budgets'],
        ['farwharf admin project list --json', 'list the budgets as JSON'],
      ],
      load: async () => (await import('./adminBudgets.ts')).listProjects,
    }),
    defineVerb({
      name: 'remove',
      summary: 'remove the budget of a project; its jobs continue, and others are accepted',
      args: ['<project>'],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin project remove vision', 'remove a budget'],
        ['farwharf admin project remove vision --json', 'remove a budget, and print it as JSON'],
      ],
      load: async () => (await import('./adminBudgets.ts')).removeProject,
    }),
  ],
);

/** `farwharf admin` and its verbs, for people who run a service, on its machine. */
export const adminVerb = defineGroup(
  {
    name: 'admin',
    summary: 'manage a service on this machine, whether it is running or not',
    examples: [
      ['farwharf admin account add ada --credits 100', 'add an account'],
      ['farwharf admin key add ada', 'create an API key for the account'],
    ],
  },
  [
    accountVerb,
    keyVerb,
    creditVerb,
    groupVerb,
    projectVerb,
    defineVerb({
      name: 'jobs',
      summary: 'list the jobs of all accounts, newest first',
      flags: JOBS_FLAGS,
      examples: [
        ['farwharf admin jobs --state running', 'list what runs now'],
        ['farwharf admin jobs --account ada --since 7d --json', 'list the jobs of an account in the last week as JSON'],
      ],
      load: async () => (await import('./adminJobs.ts')).listServiceJobs,
    }),
    defineVerb({
      name: 'job',
      summary: 'show one job of any account, with its reason, credits and the ID that its executor gave it',
      args: [new Argument('<job>', 'job ID from farwharf admin jobs')],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin job 0c4e8f3b5a1d2e6f7a90', 'show a job'],
        ['farwharf admin job 0c4e8f3b5a1d2e6f7a90 --json', 'show the same as JSON'],
      ],
      load: async () => (await import('./adminJobs.ts')).showServiceJob,
    }),
    defineVerb({
      name: 'cancel',
      summary: 'stop jobs of any account; their reason says that an operator did it',
      args: [new Argument('[jobs...]', 'job IDs from farwharf admin jobs')],
      flags: CANCEL_FLAGS,
      examples: [
        ["farwharf admin cancel --account ada --reason 'the course is over'", 'stop all jobs of an account'],
        ["farwharf admin cancel 0c4e8f3b5a1d2e6f7a90 --reason 'the node is needed'", 'stop a job'],
        [
          'farwharf admin cancel 0c4e8f3b5a1d2e6f7a90 77d0c1f2a3b4958607d1 --json',
          'stop two jobs and print them as JSON',
        ],
      ],
      load: async () => (await import('./adminJobs.ts')).cancelAnyJobs,
    }),
    defineVerb({
      name: 'drain',
      summary:
        'accept and start no more jobs, also after a restart; running jobs finish, waiting jobs keep their place',
      flags: DRAIN_FLAGS,
      examples: [
        ["farwharf admin drain --reason 'new disks, back at 14:00'", 'accept and start no more jobs'],
        ['farwharf admin drain --wait', 'do the same, and return when no job runs any more'],
      ],
      load: async () => (await import('./adminDrain.ts')).drain,
    }),
    defineVerb({
      name: 'resume',
      summary: 'accept and start jobs again after a drain',
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin resume', 'accept and start jobs again'],
        ['farwharf admin resume --data /srv/farwharf --json', 'do the same for another data folder, and print JSON'],
      ],
      load: async () => (await import('./adminDrain.ts')).resume,
    }),
    defineVerb({
      name: 'page',
      summary: "print a link that opens the operator's page of a running service in a browser, once",
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin page', 'print the link'],
        ['farwharf admin page --data /srv/farwharf --json', 'do the same for another data folder, and print JSON'],
      ],
      load: async () => (await import('./adminService.ts')).linkPage,
    }),
    defineVerb({
      name: 'usage',
      summary: 'report the jobs, machine minutes and credits of accounts, groups, projects and machine classes',
      flags: USAGE_FLAGS,
      examples: [
        ['farwharf admin usage', 'report the current month'],
        ['farwharf admin usage --by project,account', 'report the usage of each project, by account'],
        ['farwharf admin usage --from 2026-01-01 --to 2026-01-31 --csv', 'report a month as comma-separated values'],
      ],
      load: async () => (await import('./adminUsage.ts')).reportUsage,
    }),
    defineVerb({
      name: 'audit',
      summary: 'list what operators have done, newest first, or check that nothing in the list was changed',
      flags: AUDIT_FLAGS,
      examples: [
        ['farwharf admin audit --account ada', 'list what was done to an account'],
        ['farwharf admin audit --verify', 'check the whole trail, and print its last hash'],
      ],
      load: async () => (await import('./adminAudit.ts')).showAudit,
    }),
    defineVerb({
      name: 'disk',
      summary: 'show free space, and the space that the results of each account use',
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin disk', 'show the free space and the largest results'],
        ['farwharf admin disk --data /srv/farwharf --json', 'show the same for another data folder, as JSON'],
      ],
      load: async () => (await import('./adminStorage.ts')).showDisk,
    }),
    defineVerb({
      name: 'backup',
      summary: 'write everything that a new machine needs into one file',
      args: [new Argument('<file>', '.tar.gz file to create')],
      flags: ADMIN_FLAGS,
      examples: [
        ['farwharf admin backup farwharf.tar.gz', 'write a backup'],
        ['farwharf admin backup farwharf.tar.gz --data /srv/farwharf', 'back up another data folder'],
      ],
      load: async () => (await import('./adminStorage.ts')).backUp,
    }),
    defineVerb({
      name: 'restore',
      summary: 'create a data folder from a backup; jobs that had not ended are lost, free of charge',
      args: [new Argument('<file>', 'backup file from farwharf admin backup')],
      flags: {
        data: requiredTextFlag('--data <dir>', 'folder to create'),
        json: jsonFlag(),
      },
      examples: [
        ['farwharf admin restore farwharf.tar.gz --data /srv/farwharf', 'create a data folder from a backup'],
        ['farwharf admin restore farwharf.tar.gz --data /srv/farwharf --json', 'do the same and print JSON'],
      ],
      load: async () => (await import('./adminStorage.ts')).restoreService,
    }),
  ],
);
