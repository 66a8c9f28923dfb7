import { jsonFlag, optionalNumberFlag, requiredTextFlag, switchFlag, textFlag } from '../command/flags.ts';
import { parameterFlag } from './parameterFlag.ts';
import { RANKING_FLAGS } from './sweepVerbs.ts';

/** The flags of `farwharf sweep best`. */
export const BEST_FLAGS = {
  by: requiredTextFlag('--by <metric>', 'metric whose last value decides which job is the best'),
  ...RANKING_FLAGS,
  set: parameterFlag('change a parameter of the best job'),
  maxRuntime: optionalNumberFlag('--max-runtime <seconds>', 'time limit of the new job', { min: 1 }),
  machineClass: textFlag('--machine-class <name>', 'machine class of the new job'),
  watch: switchFlag('--watch', 'show the log until the job ends'),
  download: switchFlag('--download', 'wait until the job ends, then download the results into the folder'),
  dryRun: switchFlag('--dry-run', 'show which job would be submitted without sending anything'),
  json: jsonFlag(),
};
