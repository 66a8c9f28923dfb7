import type { ClusterOptions } from '../../../remote/protocol/termValues.ts';
import type { SlurmAccount, SlurmMachineClass } from './slurmConfig.ts';

const CHOICES = ['account', 'qos', 'constraint', 'reservation'] as const;

/** Why a job cannot have the cluster options that it requests; undefined if it can. */
export function refusalOfOptions(
  options: ClusterOptions,
  { name, allow, modules, container }: Pick<SlurmMachineClass, 'name' | 'allow' | 'modules' | 'container'>,
  { mail }: Pick<SlurmAccount, 'mail'> = {},
): string | undefined {
  for (const choice of CHOICES) {
    const value = options[choice];
    if (value === undefined || allow[choice].includes(value)) continue;
    const allowed = allow[choice].length === 0 ? 'no choice' : allow[choice].join(', ');
    return `the machine class ${name} does not allow this ${choice}. It allows ${allowed}.`;
  }
  const refused = options.modules?.find(
    (module) => ![...modules, ...allow.modules].some((pattern) => matches(module, pattern)),
  );
  if (refused !== undefined) {
    return `the machine class ${name} does not allow the module ${refused}. It allows ${list(allow.modules)}.`;
  }
  const { container: image } = options;
  if (image !== undefined && image !== container?.image && !allow.images.some((pattern) => matches(image, pattern))) {
    const allowed = container?.image === undefined ? list(allow.images) : `only ${container.image}`;
    return `the machine class ${name} does not allow the container image ${image}. It allows ${allowed}.`;
  }
  if (options.mail === true && mail === undefined) {
    return 'your account has no address for mails. Ask the operator of the service to add one.';
  }
  return undefined;
}

function list(allowed: readonly string[]): string {
  return allowed.length === 0 ? 'none' : allowed.join(', ');
}

/** Whether a name equals the pattern, or has its prefix before `*`. */
function matches(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/**
 * The arguments for `sbatch` that say how a job is accounted for and where it may run: its own choices, else the settings of its account.
 * They come last, so that they override those of a machine class. A mail goes to the address of the configuration.
 */
export function optionArguments(
  { account, qos, reservation, mail: address }: SlurmAccount,
  options: ClusterOptions = {},
): readonly string[] {
  const { mail = false } = options;
  const own = { account, qos, constraint: undefined, reservation };
  const named = CHOICES.map((choice) => [choice, options[choice] ?? own[choice]] as const);
  const mails = mail && address !== undefined ? ['--mail-type=END,FAIL', `--mail-user=${address}`] : [];
  return [...named.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`])), ...mails];
}
