import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../command/verb.ts';
import { ADMIN_FLAGS, GROUP_FLAGS, PROJECT_FLAGS } from './adminFlags.ts';

export const groupVerb = defineGroup(
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

export const projectVerb = defineGroup(
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
