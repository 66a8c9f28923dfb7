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
      script: textFlag('--script <file>', 'file to run, with its arguments, such as "train.py --epochs 3"'),
      maxRuntime: numberFlag('--max-runtime <seconds>', 'time limit of the job', {
        min: 1,
        fallback: DEFAULT_MAX_RUNTIME,
      }),
      machineClass: textFlag('--machine-class <name>', "machine class from the service's rate card (see farwharf me)"),
      project: textFlag('--project <name>', 'project to charge the job to'),
      venv: textFlag('--venv <file>', 'JSON file that describes the Python environment'),
      include: listFlag('--include <path>', 'send this path even if a rule leaves it out'),
      exclude: listFlag('--exclude <path>', 'do not send this path'),
      flow: textFlag('--flow <name>', 'flow file: the export to run'),
      shared: textFlag('--shared <json>', 'flow file: initial shared state, as JSON or @FILE'),
      resume: textFlag('--resume <run>', 'flow file: continue this run, a folder with its files or its run ID'),
      from: textFlag('--from <node>', 'with --resume: restart at this node'),
      watch: switchFlag('--watch', 'show the log until the job ends'),
      download: switchFlag('--download', 'wait until the job ends, then download the results into the folder'),
      onConflict: conflictFlag(),
      again: switchFlag('--again', 'send even if the outcome of the last submit is unknown'),
      dryRun: switchFlag('--dry-run', 'show what would be sent without sending anything'),
      json: jsonFlag(),
    },
    examples: [
      [
        'farwharf submit --script train.py --watch --download',
        'run train.py in this folder, show its log and download its results',
      ],
      [
        "farwharf submit model --script 'train.py --epochs 3' --machine-class a10g --max-runtime 7200",
        'run a script with arguments in the folder model for at most two hours',
      ],
      [
        'farwharf submit --script train.py --dry-run',
        'show what would be sent, what is left out, and what the service would refuse',
      ],
    ],
    load: async () => (await import('./submit.ts')).submit,
  });
}
