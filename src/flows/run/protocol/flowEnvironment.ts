import { ADDRESS_VARIABLES } from '../../../agents/llm/clouds.ts';
import { allowedEnvironment } from '../../../core/processes/childEnvironment.ts';
import { AppError } from '../../../core/errors.ts';

// In addition to the variables of every child and the addresses of models: Farwharf's folders, the editor's models, certificates, and the output style.
const FLOW_VARIABLES = [
  'FARWHARF_HOME FARWHARF_MODEL_BRIDGE_URL FARWHARF_MODEL_BRIDGE_TOKEN HF_ENDPOINT HF_HOME',
  'FARWHARF_SELECTED_PROVIDER FARWHARF_SELECTED_MODEL FARWHARF_SELECTED_URL',
  'XDG_DATA_HOME XDG_CACHE_HOME XDG_CONFIG_HOME NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA ELECTRON_RUN_AS_NODE',
  'TERM COLORTERM NO_COLOR FORCE_COLOR',
].flatMap((names) => names.split(' '));

/** The variables of a flow: where they come from, and which it gets in addition to the usual ones. */
export interface VariableSource {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Names that the user specified; see `variableNames`. */
  readonly variables?: readonly string[] | undefined;
}

/** The whole environment of a flow's process. */
export function flowEnvironment({ env, variables = [] }: VariableSource): Record<string, string> {
  return allowedEnvironment(env, [...FLOW_VARIABLES, ...ADDRESS_VARIABLES, ...variables]);
}

/**
 * Checks names of variables that the user specified.
 *
 * @param place the flag or setting with the names.
 * @throws AppError `bad-input` for an invalid name.
 */
export function variableNames(names: readonly string[], place: string): readonly string[] {
  const odd = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (odd === undefined) return names;
  // The text after a "=" may be a secret, so it is not repeated.
  const start = odd.split('=', 1)[0] ?? '';
  throw new AppError(
    'bad-input',
    `${place} takes the name of a variable, and "${start}…" is not one. Specify only the name.`,
  );
}

/** How to pass the variables that these texts mention and the flow did not get; undefined if there are none. */
export function withheldHint(source: VariableSource, texts: readonly string[]): string | undefined {
  const passed = flowEnvironment(source);
  const mentioned = new Set(texts.flatMap((text) => text.match(/\b[A-Z][A-Z0-9_]{2,}\b/g) ?? []));
  const names = [...mentioned].filter((name) => Boolean(source.env[name]) && passed[name] === undefined);
  if (names.length === 0) return undefined;
  const [verb, pronoun] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
  const flags = names.map((name) => `--env ${name}`).join(' ');
  return `${names.join(', ')} ${verb} set, but flows do not get ${pronoun}: pass ${pronoun} on with ${flags}, or in VS Code with the setting farwharf.flows.environment.`;
}
