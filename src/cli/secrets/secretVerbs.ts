import { Argument } from 'commander';
import { defineGroup, defineVerb } from '../command/verb.ts';
import { jsonFlag, optionalSwitchFlag } from '../grammar/flags.ts';

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
      load: async () => (await import('./secrets.ts')).setSecret,
    }),
    defineVerb({
      name: 'list',
      summary: 'show the names of your secrets, and when each was set',
      flags: { json: jsonFlag() },
      examples: [
        ['farwharf secret list', 'show the names'],
        ['farwharf secret list --json', 'show them as JSON'],
      ],
      load: async () => (await import('./secrets.ts')).listSecrets,
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
      load: async () => (await import('./secrets.ts')).removeSecret,
    }),
  ],
);
