import { join, resolve } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { farwharfHome } from '../../core/home.ts';
import { createLogger } from '../../core/log.ts';
import { Redactor } from '../../core/redact.ts';
import { embeddedServeOptions } from '../../service/embedded.ts';
import { checkService } from '../../service/checkService.ts';
import { configSchema, DEFAULT_CONFIG, readConfig, type ServiceConfig } from '../../service/config.ts';
import { serve, type ServeOptions } from '../../service/serve.ts';
import type { Context } from '../context.ts';
import type { Terminal } from '../terminal.ts';
import { EXIT } from '../exit.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly credits: number;
  readonly executor?: 'process' | 'slurm';
  readonly config?: string;
  readonly check?: boolean;
  readonly configSchema?: boolean;
  readonly embedded?: boolean;
}

/** `farwharf serve`: runs the job service until Ctrl+C or SIGTERM. Jobs that run then go on, and are found again. */
export async function runService(context: Context, _: string, flags: ServeFlags): Promise<number> {
  const { terminal, signal, env } = context;
  if (flags.configSchema === true) {
    terminal.answer(JSON.stringify(configSchema(), null, 2));
    return EXIT.done;
  }
  const options = await describeService(context, flags);
  if (flags.check === true) return check(terminal, options);
  const redactor = new Redactor();
  redactor.add(options.apiKey ?? '');
  const log = createLogger((level, line) => terminal.note(`${new Date().toISOString()} ${level} ${line}`), redactor);
  const service = await serve(options, { log, signal });
  redactor.add(service.key);
  terminal.json({ url: service.url, key: service.key, pid: process.pid });
  if (flags.embedded !== true && !terminal.isJson) {
    terminal.note(`The job service listens on ${service.url}; its data lie in ${options.data}.`);
    const isChosen = Boolean(env['FARWHARF_API_KEY']);
    terminal.note(isChosen ? 'The key is FARWHARF_API_KEY.' : `Key, shown only here: ${service.key}`);
    terminal.note(`Use it:  FARWHARF_API_KEY=… farwharf --remote ${service.url} submit FOLDER --script FILE`);
  }
  await service.closed;
  return EXIT.done;
}

async function describeService({ env, program }: Context, flags: ServeFlags): Promise<ServeOptions> {
  const home = farwharfHome(env);
  const files = { runner: program.jobRunner, version: program.version };
  if (flags.embedded === true) return embeddedServeOptions(home, files);
  const config = await configOf(flags);
  const apiKey = env['FARWHARF_API_KEY'];
  return {
    ...files,
    host: flags.host,
    port: flags.port,
    data: resolve(flags.data ?? join(home, 'serve')),
    config,
    credits: flags.credits,
    ...(apiKey && { apiKey }),
  };
}

/** Says what a service with these options would find, and starts none. */
async function check(terminal: Terminal, { config, data }: ServeOptions): Promise<number> {
  const things = await checkService(config, data);
  terminal.json({ checks: things.map(({ what, problem }) => ({ what, problem: problem ?? null })) });
  for (const { what, problem } of things)
    terminal.note(problem === undefined ? `ok       ${what}` : `PROBLEM  ${what}: ${problem}`);
  return things.every(({ problem }) => problem === undefined) ? EXIT.done : EXIT.failed;
}

function configOf({ executor, config }: ServeFlags): Promise<ServiceConfig> {
  const overrides = executor === undefined ? {} : { executor };
  if (config !== undefined) return readConfig(resolve(config), overrides);
  if (executor === 'slurm') {
    const message =
      '--executor slurm needs --config FILE, which names the partitions that jobs may use and their prices.';
    throw new AppError('bad-input', message);
  }
  return Promise.resolve(DEFAULT_CONFIG);
}
