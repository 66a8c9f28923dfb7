import { variableNames } from '../../flows/run/protocol/flowEnvironment.ts';
import { type Flag, listFlag } from '../grammar/flags.ts';

/** `--env`, for the verbs that run the code of flow files. */
export function environmentFlag(): Flag<readonly string[] | undefined> {
  return listFlag('--env <name>', 'pass this environment variable to the flow', (name) =>
    variableNames([name], '--env'),
  );
}
