import { Argument } from 'commander';
import { defineGroup, defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag, requiredTextFlag, switchFlag, textFlag } from '../grammar/flags.ts';
import { accountVerb, keyVerb } from './accountVerbs.ts';
import { creditVerb } from './creditVerbs.ts';
import { dataFlag } from './dataFlag.ts';

/** `farwharf admin` and its verbs, for people who run a service, on its machine. */
export function adminVerb(): Verb {
  return defineGroup(
    {
      name: 'admin',
      summary: 'manage the accounts of a service on this machine, whether it runs or not',
      examples: [
        ['farwharf admin account add ada --credits 100', 'add an account'],
        ['farwharf admin key add ada', 'make a key for it'],
      ],
    },
    [
      accountVerb(),
      keyVerb(),
      creditVerb(),
      defineVerb({
        name: 'usage',
        summary: 'report the jobs, machine minutes and credits of accounts, by machine class',
        flags: {
          from: textFlag('--from <day>', 'first day, UTC (default: the first of the month)'),
          to: textFlag('--to <day>', 'last day, UTC (default: today)'),
          account: textFlag('--account <account>', 'of this account only'),
          csv: switchFlag('--csv', 'print comma-separated values'),
          data: dataFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf admin usage', 'report the current month'],
          ['farwharf admin usage --from 2026-01-01 --to 2026-01-31 --csv', 'report a month as a table'],
        ],
        load: async () => (await import('./usage.ts')).reportUsage,
      }),
      defineVerb({
        name: 'disk',
        summary: 'show what is free, and whose results take how much',
        flags: {
          data: dataFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf admin disk', 'show the free space and the largest results'],
          ['farwharf admin disk --data /srv/farwharf --json', 'show them for another data folder and a program'],
        ],
        load: async () => (await import('./disk.ts')).showDisk,
      }),
      defineVerb({
        name: 'backup',
        summary: 'write everything that a new machine needs into one file, while the service runs or not',
        args: [new Argument('<file>', 'a .tar.gz to be made')],
        flags: {
          data: dataFlag(),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf admin backup farwharf.tar.gz', 'write a backup'],
          ['farwharf admin backup farwharf.tar.gz --data /srv/farwharf', 'write one of another data folder'],
        ],
        load: async () => (await import('./backups.ts')).backUp,
      }),
      defineVerb({
        name: 'restore',
        summary: 'make a data folder out of a backup; jobs that had not ended are lost, and cost nothing',
        args: [new Argument('<file>', 'a file of farwharf admin backup')],
        flags: {
          data: requiredTextFlag('--data <dir>', 'the folder to make'),
          json: jsonFlag(),
        },
        examples: [
          ['farwharf admin restore farwharf.tar.gz --data /srv/farwharf', 'make a data folder of a backup'],
          [
            'farwharf admin restore farwharf.tar.gz --data /srv/farwharf --json',
            'make it, and print the outcome for a program',
          ],
        ],
        load: async () => (await import('./backups.ts')).restore,
      }),
    ],
  );
}
