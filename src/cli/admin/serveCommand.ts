import { resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/files/home.ts';
import { requireOwnFile } from '../../core/files/ownFiles.ts';
import { Redactor } from '../../core/redact.ts';
import { embeddedServeOptions } from '../../service/embeddedOptions.ts';
import { checkService } from '../../service/checkService.ts';
import { configSchema, readConfig, type ServiceConfig } from '../../service/serviceConfig.ts';
import { isLoopbackAddress } from '../../service/http/access/auth.ts';
import { DEFAULT_PROXY } from '../../service/config/configSections.ts';
import { openServiceLog } from '../../service/serviceLog.ts';
import { type RunningService, serve } from '../../service/serve.ts';
import type { ServeOptions } from '../../service/serveOptions.ts';
import type { Context } from '../command/commandContext.ts';
import { adminCommand, dataFolder } from './dataFolder.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { EXIT } from '../command/exit.ts';
import { checkedApiKey } from '../../service/apiKey.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly executor?: string;
  readonly config?: string;
  readonly credits: number;
  readonly log?: string;
  readonly behindProxy: boolean;
  readonly check: boolean;
  readonly confirmRetention: boolean;
  readonly configSchema: boolean;
  readonly embedded: boolean;
}

/** `farwharf serve`: runs the job service until Ctrl+C or SIGTERM. Running jobs continue, and the next start finds them. */
export async function runService(context: Context, _: string, flags: ServeFlags): Promise<number> {
  const { terminal, signal, onHangup } = context;
  if (flags.configSchema) {
    const schema = await configSchema();
    if (!terminal.json(schema)) terminal.answerText(JSON.stringify(schema, null, 2));
    return EXIT.done;
  }
  const options = await describeService(context, flags);
  if (flags.check) return check(terminal, options);
  refuseUnencrypted(options);
  const redactor = new Redactor();
  redactor.add(options.apiKey ?? '');
  redactor.add(options.config.metrics.token ?? '');
  const serviceLog = openServiceLog(options.config.log, redactor, (line) => terminal.note(line));
  try {
    const service = await serve(options, { log: serviceLog.log, signal });
    redactor.add(service.key);
    const reload = (): void => {
      serviceLog.reopen();
      service.reload();
    };
    if (!flags.embedded) onHangup(reload);
    terminal.json({ url: service.url, key: service.key, pid: process.pid });
    if (!flags.embedded && !terminal.isJson) welcome(context, flags, options, service);
    await service.closed;
    return EXIT.done;
  } finally {
    serviceLog.dispose();
  }
}

function welcome(
  context: Context,
  flags: ServeFlags,
  { data, config }: ServeOptions,
  { url, key }: RunningService,
): void {
  const { terminal } = context;
  terminal.note(`The job service listens on ${url}. Data folder: ${data}`);
  if (config.log.file !== undefined) terminal.note(`Log file: ${config.log.file}`);
  terminal.note(aboutKey(context, flags, key));
  terminal.note(`Use it:  FARWHARF_REMOTE_HOST=${url} FARWHARF_API_KEY=… farwharf submit FOLDER --script FILE`);
  terminal.note(`Add an account for another person:  ${adminCommand('account add NAME', flags)}`);
}

/** Shows a generated key on a terminal only: anything else is a log, which would store the key. */
function aboutKey({ terminal, env }: Context, flags: ServeFlags, key: string): string {
  if (env['FARWHARF_API_KEY']) return 'The API key is the value of FARWHARF_API_KEY.';
  if (terminal.isScreen('stderr')) return `API key, shown only once: ${key}`;
  return `Create API keys:  ${adminCommand('key add ACCOUNT', flags)}`;
}

/** Keys and workspaces must not cross a network unencrypted, unless a proxy protects them. */
function refuseUnencrypted({ host, config }: ServeOptions): void {
  if (isLoopbackAddress(host) || config.tls !== undefined || config.proxy !== undefined) return;
  const message = `Other machines can reach ${host}, and without TLS anyone on the network can read keys and workspaces. Set a certificate in [tls] of --config, or use --behind-proxy if a proxy in front handles TLS.`;
  throw new AppError('refused', message);
}

async function describeService(context: Context, flags: ServeFlags): Promise<ServeOptions> {
  const { env, program } = context;
  const home = farwharfHome(env);
  const files = { runner: program.jobRunner, version: program.version };
  if (flags.embedded) return embeddedServeOptions(home, files);
  const config = await configOf(flags, context);
  const apiKey = env['FARWHARF_API_KEY'];
  return {
    ...files,
    host: flags.host,
    port: flags.port,
    data: dataFolder(flags.data, context),
    config,
    credits: flags.credits,
    isRetentionConfirmed: flags.confirmRetention,
    ...(apiKey && { apiKey: checkedApiKey(apiKey) }),
  };
}

/** Checks whether a service with these options could run jobs, without starting it. */
async function check(terminal: Terminal, { config, data }: ServeOptions): Promise<number> {
  const { checks, retention = null } = await checkService(config, data);
  terminal.json({
    checks: checks.map(({ what, problem = null, warning = null }) => ({ what, problem, warning })),
    retention,
  });
  for (const { what, problem, warning } of checks) {
    // Lines after the first are commands to copy.
    const [first, ...copied] = problem?.split('\n') ?? [];
    terminal.note(first === undefined ? `ok       ${what}` : `PROBLEM  ${what}: ${first}`);
    for (const line of copied) terminal.note(line);
    if (warning !== undefined) terminal.note(`warning  ${warning}`);
  }
  return checks.every(({ problem }) => problem === undefined) ? EXIT.done : EXIT.failed;
}

/** @throws AppError `refused` for a configuration that others can write: it names programs and folders for jobs. */
async function configOf(flags: ServeFlags, { cwd }: Context): Promise<ServiceConfig> {
  const overrides = flags.executor === undefined ? {} : { executor: flags.executor };
  const file = flags.config && resolve(cwd, flags.config);
  if (file !== undefined) requireOwnFile(file);
  const config = await readConfig(file, overrides);
  return {
    ...config,
    ...(flags.log !== undefined && { log: { ...config.log, file: resolve(cwd, flags.log) } }),
    ...(flags.behindProxy && { proxy: config.proxy ?? DEFAULT_PROXY }),
  };
}
