import { defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag, numberFlag, textFlag } from '../grammar/flags.ts';
import { conflictFlag } from './conflictFlag.ts';

/** The verbs about jobs that were sent, and `farwharf me`. */
export function jobVerbs(): readonly Verb[] {
  return [
    defineVerb({
      name: 'jobs',
      summary: 'list the jobs that were sent from here',
      flags: {
        limit: numberFlag('--limit <n>', 'how many of them', { min: 1, fallback: 20 }),
        json: jsonFlag(),
      },
      examples: [
        ['farwharf jobs', 'list the last 20 jobs'],
        ['farwharf jobs --limit 100 --json', 'list up to 100 jobs for a program'],
      ],
      load: async () => (await import('./jobs.ts')).listJobs,
    }),
    defineVerb({
      name: 'job',
      summary: 'show one job',
      args: ['<id>'],
      flags: {
        json: jsonFlag(),
      },
      examples: [
        ['farwharf job 3f2a', 'show the job whose ID begins with 3f2a'],
        ['farwharf job 3f2a --json', 'show it as the service describes it'],
      ],
      load: async () => (await import('./job.ts')).showJob,
    }),
    defineVerb({
      name: 'watch',
      summary: 'show the log of a job until it ends; Ctrl+C leaves the job running',
      args: ['<id>'],
      flags: {
        json: jsonFlag('print JSON, a line for each event'),
      },
      examples: [
        ['farwharf watch 3f2a', 'show the log from its start until the job ends'],
        ['farwharf watch 3f2a --json', 'print each event as a line of JSON'],
      ],
      load: async () => (await import('./watch.ts')).watch,
    }),
    defineVerb({
      name: 'cancel',
      summary: 'stop a job',
      args: ['<id>'],
      flags: {
        json: jsonFlag(),
      },
      examples: [
        ['farwharf cancel 3f2a', 'stop the job whose ID begins with 3f2a'],
        ['farwharf cancel 3f2a --json', "stop it and print the service's response"],
      ],
      load: async () => (await import('./cancel.ts')).cancel,
    }),
    defineVerb({
      name: 'download',
      summary: "bring a job's results home",
      args: ['<id>'],
      flags: {
        into: textFlag('--into <dir>', 'where to (default: the folder that was sent)'),
        onConflict: conflictFlag(),
        json: jsonFlag(),
      },
      examples: [
        ['farwharf download 3f2a', 'bring the results into the folder that was sent'],
        [
          'farwharf download 3f2a --into results --on-conflict overwrite',
          'bring them into another folder, over files of the same name',
        ],
      ],
      load: async () => (await import('./download.ts')).download,
    }),
    defineVerb({
      name: 'me',
      summary: 'show credits, plan and rate card',
      flags: {
        json: jsonFlag(),
      },
      examples: [
        ['farwharf me', 'show your credits, and what a minute costs on which machine'],
        ['farwharf me --remote https://gpu.example.org', 'show them for another service'],
      ],
      load: async () => (await import('./me.ts')).showAccount,
    }),
  ];
}
