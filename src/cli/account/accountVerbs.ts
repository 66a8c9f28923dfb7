import { Argument } from 'commander';
import { defineGroup, defineVerb, type Verb } from '../command/verb.ts';
import { creditsFlag, jsonFlag, optionalSwitchFlag } from '../command/flags.ts';

export const meVerb = defineVerb({
  name: 'me',
  summary: 'show credits, plan and rate card',
  flags: { json: jsonFlag() },
  examples: [
    ['farwharf me', 'show your credits and the price of each machine class'],
    ['farwharf me --remote https://gpu.example.org', 'show the same for another service'],
  ],
  load: async () => (await import('./me.ts')).printAccount,
});

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
      load: async () => (await import('./projectBudgets.ts')).listBudgets,
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
      load: async () => (await import('./projectBudgets.ts')).setProjectBudget,
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
      load: async () => (await import('./projectBudgets.ts')).removeBudget,
    }),
  ],
);

const NAME = new Argument('<name>', 'capital letters, digits and "_": the name of the variable in jobs');

/** `farwharf secret` and its verbs. */
export const secretVerb = defineGroup(
  {
    name: 'secret',
    summary: 'store keys and passwords on the service for your jobs',
    examples: [
      ['farwharf secret set HF_TOKEN', 'ask for the value and store it'],
      ['farwharf submit --script train.py --secret HF_TOKEN', 'run a job that has it as a variable'],
    ],
  },
  [
    defineVerb({
      name: 'set',
      summary: 'store a secret, or replace its value',
      args: [NAME],
      flags: {
        redactResults: optionalSwitchFlag(
          '--redact-results',
          'also remove the value from text files among the results of jobs that get it',
          'leave results as jobs wrote them (default)',
        ),
        json: jsonFlag(),
      },
      notes:
        '\nThe value comes from standard input (farwharf secret set HF_TOKEN < token.txt), or is asked for at a terminal.',
      examples: [
        ['farwharf secret set HF_TOKEN', 'ask for the value without showing it'],
        ['farwharf secret set HF_TOKEN --redact-results', 'and remove it from results, too'],
      ],
      load: async () => (await import('./accountSecrets.ts')).setSecretFromInput,
    }),
    defineVerb({
      name: 'list',
      summary: 'show the names of your secrets, and when each was set',
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf secret list', 'show the names'],
        ['farwharf secret list --json', 'show them as JSON'],
      ],
      load: async () => (await import('./accountSecrets.ts')).listSecrets,
    }),
    defineVerb({
      name: 'remove',
      summary: 'delete a secret from the service',
      args: [NAME],
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf secret remove HF_TOKEN', 'delete it; running jobs keep its value'],
        ['farwharf secret remove HF_TOKEN --remote https://gpu.example.org', 'delete it from another service'],
      ],
      load: async () => (await import('./accountSecrets.ts')).removeStoredSecret,
    }),
  ],
);

const NOTES = `
You sign in on a page of your site's identity provider, in a browser on any device. Programs use an API key instead.`;

/** The verbs for services where people sign in with the site's identity provider. */
export const signInVerbs: readonly Verb[] = [
  defineVerb({
    name: 'login',
    summary: "sign in to a service with your site's identity provider",
    flags: { json: jsonFlag('print JSON: what to open, then the account') },
    notes: NOTES,
    examples: [
      ['farwharf login --remote https://gpu.example.org', 'sign in to a service'],
      ['farwharf login --json', 'print the page and the code as JSON, then the account'],
    ],
    load: async () => (await import('./login.ts')).login,
  }),
  defineVerb({
    name: 'logout',
    summary: 'sign out of a service, here and at the identity provider',
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf logout --remote https://gpu.example.org', 'end the sign-in'],
      ['farwharf logout --json', 'do the same and print JSON'],
    ],
    load: async () => (await import('./login.ts')).logout,
  }),
];
