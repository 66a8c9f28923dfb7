import { Argument } from 'commander';
import { defineVerb, type Verb } from '../command/verb.ts';
import {
  conflictFlag,
  type Flag,
  jsonFlag,
  listFlag,
  numberFlag,
  optionalNumberFlag,
  restoreConflictFlag,
  switchFlag,
  textFlag,
  textFlagOr,
} from '../command/flags.ts';
import { DEFAULT_RESULT_GB } from '../../jobs/results/resultLimits.ts';

const EXEC_NOTES = `
Standard input, output and error are those of the command, byte for byte. Ctrl+C reaches the command. The exit status is
the command's, 126 or 127 if it cannot be run, or 128 plus the number of the signal that ended it. What the command has
started ends with it, and all of it ends with this program.`;

function maxSizeFlag(description: string): Flag<number> {
  return numberFlag('--max-size <gb>', description, { min: 1, max: 1_000_000, fallback: DEFAULT_RESULT_GB });
}

/** The verbs about jobs that were sent. */
export const jobVerbs: readonly Verb[] = [
  defineVerb({
    name: 'jobs',
    summary: 'list the jobs sent from this machine, or all of the account',
    flags: {
      all: switchFlag('--all', 'list the jobs that the service has of the account, wherever they were submitted'),
      limit: numberFlag('--limit <n>', 'maximum number of jobs to list', { min: 1, fallback: 20 }),
      json: jsonFlag(),
    },
    examples: [
      ['farwharf jobs', 'list the last 20 jobs'],
      ['farwharf jobs --all', 'list the last 20 jobs of the account, also those that were sent from elsewhere'],
      ['farwharf jobs --limit 100 --json', 'list up to 100 jobs as JSON'],
    ],
    load: async () => (await import('./jobTable.ts')).listJobs,
  }),
  defineVerb({
    name: 'job',
    summary: 'show one job: its state, cost, usage, metrics and results',
    args: ['<id>'],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf job 3f2a', 'show the job whose ID starts with 3f2a'],
      ['farwharf job 3f2a --json', "print the same as JSON, with the service's own fields"],
    ],
    load: async () => (await import('./job.ts')).printJob,
  }),
  defineVerb({
    name: 'add',
    summary: 'add a job that was submitted elsewhere to your list',
    args: ['<id>'],
    flags: {
      folder: textFlagOr('--folder <dir>', 'folder for its results', '.'),
      json: jsonFlag(),
    },
    examples: [
      ['farwharf add job-4711', 'list a job that was submitted from another machine'],
      ['farwharf add job-4711 --folder ~/model', 'download its results into ~/model'],
    ],
    load: async () => (await import('./job.ts')).add,
  }),
  defineVerb({
    name: 'watch',
    summary: 'show the log of a job until the job ends (Ctrl+C does not stop the job)',
    args: ['<id>'],
    flags: {
      json: jsonFlag('print one JSON line per event'),
    },
    examples: [
      ['farwharf watch 3f2a', 'show the log from the start until the job ends'],
      ['farwharf watch 3f2a --json', 'print each event as a JSON line'],
    ],
    load: async () => (await import('./watch.ts')).watch,
  }),
  defineVerb({
    name: 'exec',
    summary: 'run a command in a running job: in its sandbox and folder, with its variables and limits',
    args: ['<id>'],
    runsCommands: 'to run in the job',
    flags: { terminal: switchFlag('-t, --terminal', 'run the command in a terminal') },
    notes: EXEC_NOTES,
    examples: [
      ['farwharf exec 3f2a -- nvidia-smi', 'run a program beside the job'],
      ["farwharf exec 3f2a -- sh -c 'tail -n 5 logs/*.txt'", 'run a shell command'],
      ['farwharf exec 3f2a -- cat checkpoint.pt > checkpoint.pt', 'copy a file while the job is running'],
      ['farwharf exec 3f2a -t -- top', 'run a program that needs a terminal'],
    ],
    load: async () => (await import('./exec.ts')).execInJob,
  }),
  defineVerb({
    name: 'shell',
    summary: 'open a shell in a running job',
    args: ['<id>'],
    flags: {},
    examples: [
      ['farwharf shell 3f2a', 'open bash, or sh where the job has no bash'],
      ['farwharf exec 3f2a -t -- zsh', 'open another shell'],
    ],
    load: async () => (await import('./exec.ts')).openShell,
  }),
  defineVerb({
    name: 'files',
    summary: 'list the files of a running job',
    args: ['<id>', new Argument('[path]', 'a folder or file of the job (default: all)')],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf files 3f2a', 'list all files with their sizes and ages'],
      ['farwharf files 3f2a checkpoints --json', 'list the files in a folder as JSON'],
    ],
    load: async () => (await import('./runningFiles.ts')).listRunningFiles,
  }),
  defineVerb({
    name: 'cp',
    summary: 'copy a file or a folder from a running job',
    args: [
      new Argument('<id:path>', 'the job, and a path relative to its folder'),
      new Argument('<dest>', 'a folder, or the name of the copy'),
    ],
    flags: { onConflict: conflictFlag(), maxSize: maxSizeFlag('the most GB to copy'), json: jsonFlag() },
    examples: [
      ['farwharf cp 3f2a:checkpoints/last.pt .', 'copy a file into this folder'],
      ['farwharf cp 3f2a:logs logs-so-far --on-conflict overwrite', 'copy a folder, replacing earlier copies'],
    ],
    load: async () => (await import('./runningFiles.ts')).copyFromJob,
  }),
  defineVerb({
    name: 'ports',
    summary: 'list the ports on which a running job listens',
    args: ['<id>'],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf ports 3f2a', 'list the ports, and the programs that listen there'],
      ['farwharf ports 3f2a --json', 'print the same as JSON'],
    ],
    load: async () => (await import('./forwardPorts.ts')).listPorts,
  }),
  defineVerb({
    name: 'forward',
    summary: 'open ports of a running job on this machine, until Ctrl+C',
    args: ['<id>', new Argument('<port...>', 'PORT, or PORT:LOCAL for another number here')],
    flags: {},
    examples: [
      ['farwharf forward 3f2a 6006', "open the job's TensorBoard at http://127.0.0.1:6006"],
      ['farwharf forward 3f2a 8888:9999 6006', 'open two ports, one of them as port 9999'],
    ],
    load: async () => (await import('./forwardPorts.ts')).forwardPorts,
  }),
  defineVerb({
    name: 'debug',
    summary: 'attach a debugger to a job that was submitted with --debug, also after it has failed and waits',
    args: ['<id>'],
    flags: {
      port: numberFlag('--port <number>', 'port of this machine for debug clients (default: any free one)', {
        min: 0,
        max: 65_535,
        fallback: 0,
      }),
      extend: optionalNumberFlag('--extend <minutes>', 'only let the frozen job wait longer', { min: 1, max: 1_440 }),
      giveUp: switchFlag('--give-up', 'only let the frozen job continue; it ends as it would have without a debugger'),
      json: jsonFlag(),
    },
    examples: [
      ['farwharf debug 3f2a --port 5678', 'open the debug adapter protocol at 127.0.0.1:5678 until Ctrl+C'],
      ['farwharf debug 3f2a --extend 10', 'let a failed job wait for ten minutes more'],
      ['farwharf debug 3f2a --give-up', 'let it end'],
    ],
    load: async () => (await import('./debug.ts')).debugJob,
  }),
  defineVerb({
    name: 'cancel',
    summary: 'stop a job',
    args: ['<id>'],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf cancel 3f2a', 'stop the job whose ID starts with 3f2a'],
      ['farwharf cancel 3f2a --json', "stop the job and print the service's response"],
    ],
    load: async () => (await import('./job.ts')).cancel,
  }),
  defineVerb({
    name: 'download',
    summary: "download a job's results",
    args: ['<id>'],
    flags: {
      into: textFlag('--into <dir>', 'folder for the results (default: the folder that was sent)'),
      only: listFlag('--only <path>', 'write only this file or folder of the results'),
      onConflict: conflictFlag(),
      maxSize: maxSizeFlag('the most GB that the results may unpack to'),
      json: jsonFlag(),
    },
    examples: [
      ['farwharf download 3f2a', 'download the results into the folder that was sent'],
      ['farwharf download 3f2a --only out/model.pt', 'download one file'],
      ['farwharf download 3f2a --into results --on-conflict overwrite', 'into another folder, replacing files'],
    ],
    load: async () => (await import('./jobResults.ts')).downloadJob,
  }),
  defineVerb({
    name: 'results',
    summary: "list a job's results or print one of them, without saving them",
    args: ['<id>', new Argument('[path]', 'a folder to list, or a text file to print')],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf results 3f2a', 'list all results with their sizes'],
      ['farwharf results 3f2a out/metrics.json', 'print a file'],
    ],
    load: async () => (await import('./listResults.ts')).listResults,
  }),
  defineVerb({
    name: 'diff',
    summary: 'list the files that changed since a job was submitted, or between two jobs',
    args: ['<id>', new Argument('[other]', 'a later job to compare with, instead of the folder')],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf diff 3f2a', 'list what changed in the folder since the job was submitted'],
      ['farwharf diff 3f2a 9c01', 'list what changed from one job to another'],
    ],
    load: async () => (await import('./submittedVersion.ts')).diff,
  }),
  defineVerb({
    name: 'restore',
    summary: 'write files as they were submitted with a job',
    args: ['<id>', new Argument('[path...]', 'files and folders to restore (default: all)')],
    flags: {
      into: textFlag('--into <dir>', 'folder to write into (default: the folder that was sent)'),
      onConflict: restoreConflictFlag(),
      json: jsonFlag(),
    },
    examples: [
      ['farwharf restore 3f2a train.py', 'restore one file; a changed one stays, and the old one is written beside it'],
      ['farwharf restore 3f2a --into old', 'write everything that was submitted into another folder'],
    ],
    load: async () => (await import('./submittedVersion.ts')).restoreSubmitted,
  }),
  defineVerb({
    name: 'explain',
    summary:
      'show why a job failed: likely causes, last lines, the code they name, and what changed since it last worked',
    args: ['<id>'],
    flags: { json: jsonFlag() },
    examples: [
      ['farwharf explain 3f2a', 'show why the job failed, as Markdown'],
      ['farwharf explain 3f2a --json | llm "How do I fix this?"', 'ask a model about it'],
    ],
    load: async () => (await import('./job.ts')).explainJob,
  }),
];
