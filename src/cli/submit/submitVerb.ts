import { Argument } from 'commander';
import { defineVerb, type Verb } from '../command/verb.ts';
import { jsonFlag, listFlag, numberFlag, switchFlag, textFlag } from '../grammar/flags.ts';
import { conflictFlag } from '../jobs/conflictFlag.ts';

const DEFAULT_MAX_RUNTIME = 3600;

/** `farwharf submit`. */
export function submitVerb(): Verb {
  return defineVerb({
    name: 'submit',
    summary: 'send a folder as a job',
    args: [new Argument('[folder]', 'folder to send (default: the current one)')],
    flags: {
      script: textFlag('--script <file>', 'file to run, with its arguments: "train.py --epochs 3"'),
      maxRuntime: numberFlag('--max-runtime <seconds>', 'time limit of the job', {
        min: 1,
        fallback: DEFAULT_MAX_RUNTIME,
      }),
      machineClass: textFlag(
        '--machine-class <name>',
        "machine to run on, from the service's rate card (see farwharf me)",
      ),
      project: textFlag('--project <name>', 'project that the job is booked under'),
      venv: textFlag('--venv <file>', 'JSON file that describes the Python environment'),
      include: listFlag('--include <path>', 'send this path although it would be left out'),
      exclude: listFlag('--exclude <path>', 'leave this path out'),
      flow: textFlag('--flow <name>', 'of a flow file: the export to run'),
      shared: textFlag('--shared <json>', 'of a flow file: shared state to begin with, as JSON or @FILE'),
      resume: textFlag(
        '--resume <run>',
        'of a flow file: go on where this run stood; its folder among results, or its id here',
      ),
      from: textFlag('--from <node>', 'with --resume: begin again at this node'),
      watch: switchFlag('--watch', 'show the log until the job ends'),
      download: switchFlag('--download', 'wait for the end and bring the results into the folder'),
      onConflict: conflictFlag(),
      again: switchFlag('--again', 'send although the last submit of the folder got no answer'),
      dryRun: switchFlag('--dry-run', 'show what would be sent, and send nothing'),
      json: jsonFlag(),
    },
    examples: [
      [
        'farwharf submit --script train.py --watch --download',
        'run train.py of this folder, show its log, bring its results home',
      ],
      [
        "farwharf submit model --script 'train.py --epochs 3' --machine-class a10g --max-runtime 7200",
        'run a script with arguments in the folder model, for at most two hours',
      ],
      [
        'farwharf submit --script train.py --dry-run',
        'show what would be sent, what not, and what the service would refuse',
      ],
    ],
    load: async () => (await import('./submit.ts')).submit,
  });
}
