import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../command/verb.ts';
import { creditsFlag, jsonFlag } from '../grammar/flags.ts';

const PROJECT = new Argument('<project>', 'project, or "-" for jobs without one');

/** `farwharf budget` and its verbs. */
export const budgetVerb = defineGroup(
  {
    name: 'budget',
    summary: 'limit what the jobs of a project may cost in a month',
    examples: [
      ['farwharf budget set vision --soft 50 --hard 100', 'warn above 50 credits, and block submits above 100'],
      ['farwharf budget list', 'show what each project has spent of its budget'],
    ],
  },
  [
    defineVerb({
      name: 'list',
      summary: 'show the budgets, and what was spent of them this month',
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf budget list', 'show all budgets'],
        ['farwharf budget list --json', 'show them as JSON'],
      ],
      load: async () => (await import('./budgets.ts')).listBudgets,
    }),
    defineVerb({
      name: 'set',
      summary: 'set the budget of a project, in credits for each month',
      args: [PROJECT],
      flags: {
        soft: creditsFlag('--soft <credits>', 'warn before a submit that could exceed this'),
        hard: creditsFlag('--hard <credits>', 'refuse a submit that could exceed this'),
        json: jsonFlag(),
      },
      examples: [
        ['farwharf budget set vision --hard 100', 'send no job of project vision that could exceed 100 credits'],
        ['farwharf budget set - --soft 20', 'warn for jobs without a project above 20 credits'],
      ],
      load: async () => (await import('./budgets.ts')).setBudget,
    }),
    defineVerb({
      name: 'remove',
      summary: 'remove the budget of a project',
      args: [PROJECT],
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf budget remove vision', 'remove the limits of project vision'],
        ['farwharf budget remove -', 'remove those of jobs without a project'],
      ],
      load: async () => (await import('./budgets.ts')).removeBudget,
    }),
  ],
);
