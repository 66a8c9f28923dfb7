import { type Flag, jsonFlag, textFlag } from '../grammar/flags.ts';

/** The flags of the verbs that manage a service. */
export function adminFlags(): { readonly data: Flag<string | undefined>; readonly json: Flag<boolean> } {
  return {
    data: textFlag('--data <dir>', "the service's data folder (default: 'serve' in FARWHARF_HOME)"),
    json: jsonFlag(),
  };
}
