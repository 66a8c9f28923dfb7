import { type Flag, textFlag } from '../grammar/flags.ts';

/** `--data`, for the verbs that manage a service. */
export function dataFlag(): Flag<string | undefined> {
  return textFlag('--data <dir>', "the service's data folder (default: 'serve' in FARWHARF_HOME)");
}
