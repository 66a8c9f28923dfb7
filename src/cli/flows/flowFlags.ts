import { variableNames } from '../../flows/run/protocol/flowEnvironment.ts';
import {
  choiceFlag,
  type Flag,
  type FlagValues,
  jsonFlag,
  listFlag,
  numberFlag,
  requiredTextFlag,
  switchFlag,
  textFlag,
} from '../command/flags.ts';

/** `--env`, for the verbs that run the code of flow files or read profiles. */
export function environmentFlag(
  description = 'pass this environment variable to the flow',
): Flag<readonly string[] | undefined> {
  return listFlag('--env <name>', description, (name) => variableNames([name], '--env'));
}

export const FLOW_RUN_FLAGS = {
  shared: textFlag('--shared <json>', 'initial shared state, as JSON or @FILE'),
  flow: textFlag('--flow <name>', 'export to run, if the file has several flows'),
  trace: textFlag('--trace <file>', 'write the events of the run to this file, one JSON object on each line'),
  replay: textFlag(
    '--replay <run>',
    'reuse the results of this run (a run ID, or last) where code and input are the same',
  ),
  from: textFlag('--from <node>', 'start at this node, with its state from the last run'),
  node: textFlag('--node <node>', 'run only this node again, with the state that it had, or that of --shared'),
  of: textFlag('--of <run>', 'the run that --from or --node refers to (default: last)'),
  env: environmentFlag(),
  json: jsonFlag('print one JSON line per event'),
};

export type FlowRunFlags = FlagValues<typeof FLOW_RUN_FLAGS>;

export const FLOW_EVAL_FLAGS = {
  data: requiredTextFlag('--data <file>', 'data set: a .jsonl or .csv file with a case on each line'),
  flow: textFlag('--flow <name>', 'export to run, if the file has several flows'),
  against: textFlag('--against <eval>', 'eval to compare with (default: the last one of the same data set)'),
  min: numberFlag('--min <percent>', 'how many of the cases must pass for exit status 0', {
    min: 0,
    max: 100,
    fallback: 100,
  }),
  concurrency: numberFlag('--concurrency <n>', 'maximum number of cases at a time', { min: 1, max: 64, fallback: 4 }),
  timeout: numberFlag('--timeout <seconds>', 'time limit of a case', { min: 1, max: 86_400, fallback: 600 }),
  env: environmentFlag(),
  json: jsonFlag('print one JSON line per case, and one at the end'),
};

export type FlowEvalFlags = FlagValues<typeof FLOW_EVAL_FLAGS>;

export const FLOW_GRAPH_FLAGS = {
  format: choiceFlag('--format <kind>', 'output format (default: mermaid)', ['json', 'mermaid', 'svg']),
  flow: textFlag('--flow <name>', 'the flow to print, if the file has several'),
  run: switchFlag('--run', 'also load the file, to find what its source does not show; runs no flow'),
  env: environmentFlag(),
  json: jsonFlag(),
};

export type FlowGraphFlags = FlagValues<typeof FLOW_GRAPH_FLAGS>;
