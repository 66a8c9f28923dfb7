import { parse as parseToml, TomlError } from 'smol-toml';
import * as z from 'zod';
import { AppError, messageOf, systemCode } from '../core/errors.ts';
import { readNamedFile } from '../core/files/namedFile.ts';
import { schemaMessage, schemaProblems } from '../core/text/schemaMessage.ts';
import { withoutByteOrderMark } from '../core/text/textEncoding.ts';
import { parseJson } from '../core/jsonFields.ts';
import { machineClass, MachineClasses } from './config/machineClasses.ts';
import { sections } from './config/configSections.ts';
import type { ExecutorKind } from './executor/executorKind.ts';
import { EXECUTORS, type Executors } from './executors.ts';
import { processKind } from './process/processKind.ts';

const DEFAULT_EXECUTOR = 'process' satisfies keyof typeof EXECUTORS;
const named = z.looseObject({ executor: z.string().default(DEFAULT_EXECUTOR) });
// Loose: only the executor reads its own section and what it adds to machine classes.
const serviceConfig = named.extend({
  machine_classes: z.array(z.looseObject(machineClass.shape)).optional(),
  ...sections,
});

/** The configuration of a service: what every service has, and what its executor adds. */
export type ServiceConfig = Readonly<z.infer<typeof serviceConfig>>;

/** The configuration of a service that was started without one. */
export const DEFAULT_CONFIG = schemaFor(DEFAULT_EXECUTOR, processKind).parse({});

interface ReadOptions {
  readonly executor?: string;
  /** Settings by section. */
  readonly defaults?: Readonly<Record<string, object>>;
}

/**
 * Reads a configuration file; `.json` is JSON, anything else TOML.
 *
 * @param path undefined for a configuration with nothing but `overrides`.
 * @param options.defaults settings of sections that the file does not have; the other options are from the command line and win.
 * @throws AppError `missing` if the file cannot be read, `bad-input` that names what is wrong in it.
 */
export async function readConfig(
  path: string | undefined,
  { defaults = {}, ...overrides }: ReadOptions = {},
  executors: Executors = EXECUTORS,
): Promise<ServiceConfig> {
  const read = path === undefined ? {} : parseText(path, await readText(path));
  const value = checked(path, named, { ...checked(path, z.looseObject({}), read), ...overrides });
  const name = value.executor;
  const load = Object.hasOwn(executors, name) ? executors[name] : undefined;
  if (load === undefined) throw invalid(path, `executor: must be one of ${Object.keys(executors).join(', ')}`);
  // A file may keep the sections of other executors, for a start with --executor.
  const isRead = (section: string): boolean => section === name || !Object.hasOwn(executors, section);
  const sections = Object.fromEntries(
    Object.entries(withDefaults(value, defaults)).filter(([section]) => isRead(section)),
  );
  return serviceConfig.parse(checked(path, schemaFor(name, await load()), sections));
}

/** The JSON schema of the configuration file, for editors that complete and check it: one alternative for each executor. */
export async function configSchema(): Promise<{ readonly anyOf: readonly object[] }> {
  const executors: Executors = EXECUTORS;
  const schemas = Object.entries(executors).map(async ([name, load]) => schemaFor(name, await load()));
  return { anyOf: (await Promise.all(schemas)).map((schema) => z.toJSONSchema(schema, { io: 'input' })) };
}

/** Loads the executor of a configuration. */
export async function executorOf({ executor }: ServiceConfig, executors: Executors): Promise<ExecutorKind> {
  const load = executors[executor];
  if (load === undefined) throw new AppError('bad-input', `"${executor}" is not an executor.`);
  return load();
}

/** The folder for the files of jobs that the service shares with other machines; undefined if they are in the data folder. */
export async function sharedFolderOf(config: ServiceConfig, executors: Executors): Promise<string | undefined> {
  return (await executorOf(config, executors)).sharedFolder?.(config);
}

/** Whether the service ends while jobs run, because nobody is connected. */
export async function mayLeaveJobsOf(config: ServiceConfig, executors: Executors): Promise<boolean> {
  return (await executorOf(config, executors)).mayLeaveJobs?.(config) ?? false;
}

/** The machine classes of a configuration; undefined if it has none. */
export function machineClassesOf({ machine_classes: classes }: ServiceConfig): MachineClasses | undefined {
  const [first, ...rest] = classes ?? [];
  return first && new MachineClasses([first, ...rest]);
}

/** How many accounts a service has at least: with sign-ins, those who use it add accounts, so that jobs need isolation from the start. */
export function leastAccounts({ oidc }: ServiceConfig): number {
  return oidc === undefined ? 0 : 2;
}

/** The files of the service that jobs must not read. */
export function hiddenFiles({ tls, secrets }: ServiceConfig): readonly string[] {
  return [tls?.key, secrets.key_file].filter((path) => path !== undefined);
}

function withDefaults(
  value: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, object>>,
): Readonly<Record<string, unknown>> {
  const sections = Object.entries(defaults).map(([name, settings]): [string, unknown] => {
    const { [name]: own = {} } = value;
    // The section's schema refuses anything else.
    return [name, typeof own === 'object' && own !== null && !Array.isArray(own) ? { ...settings, ...own } : own];
  });
  return { ...value, ...Object.fromEntries(sections) };
}

/** What belongs to the service, and no volume of jobs may reach: its folders, its files, and its program. */
export function ownPaths(config: ServiceConfig, folders: readonly string[]): readonly string[] {
  const files = [...hiddenFiles(config), config.tls?.cert, config.log.file].filter((path) => path !== undefined);
  return [...folders, ...files, process.execPath, import.meta.dirname];
}

function schemaFor<Shape extends z.ZodRawShape>(name: string, { shape }: ExecutorKind<Shape>) {
  const executor = z.literal(name);
  const named = name === DEFAULT_EXECUTOR ? executor.default(name) : executor;
  return z.strictObject({ executor: named, ...sections, ...shape });
}

function checked<T>(path: string | undefined, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { error: schemaMessage });
  if (result.success) return result.data;
  throw invalid(path, schemaProblems(result.error));
}

function invalid(path: string | undefined, problems: string): AppError {
  if (path !== undefined) return new AppError('bad-input', `The configuration ${path} is not valid. ${problems}.`);
  const message = `This executor needs a configuration. ${problems}. Write it to a file, and name that with --config.`;
  return new AppError('bad-input', message);
}

async function readText(path: string): Promise<string> {
  try {
    return withoutByteOrderMark(await readNamedFile(path, { name: `The configuration ${path}` }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'bad-input') throw error;
    const { cause } = error instanceof Error ? error : {};
    const why = systemCode(cause) === 'ENOENT' ? 'it does not exist' : messageOf(cause);
    throw new AppError('missing', `The configuration ${path} cannot be read: ${why}.`, { cause });
  }
}

function parseText(path: string, text: string): unknown {
  try {
    return path.endsWith('.json') ? parseJson(text) : parseToml(text);
  } catch (cause) {
    const where = cause instanceof TomlError ? ` Line ${cause.line}, column ${cause.column}.` : '';
    const what = messageOf(cause).split('\n')[0] ?? '';
    throw new AppError('bad-input', `The configuration ${path} cannot be read: ${what}.${where}`, { cause });
  }
}
