import { join, resolve } from 'node:path';
import { farwharfHome } from '../../core/home.ts';
import { createLogger } from '../../core/log.ts';
import { Redactor } from '../../core/redact.ts';
import { embeddedServeOptions } from '../../service/embedded.ts';
import { serve, type ServeOptions } from '../../service/serve.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly data?: string;
  readonly credits: number;
  readonly embedded?: boolean;
}

/** `farwharf serve`: runs the job service until Ctrl+C or SIGTERM. Jobs that run then go on, and are found again. */
export async function runService(context: Context, _: string, flags: ServeFlags): Promise<number> {
  const { terminal, signal, env } = context;
  const options = describeService(context, flags);
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

function describeService({ env, program }: Context, flags: ServeFlags): ServeOptions {
  const home = farwharfHome(env);
  const files = { runner: program.jobRunner, version: program.version };
  if (flags.embedded === true) return embeddedServeOptions(home, files);
  const apiKey = env['FARWHARF_API_KEY'];
  return {
    ...files,
    host: flags.host,
    port: flags.port,
    data: resolve(flags.data ?? join(home, 'serve')),
    executor: 'process',
    credits: flags.credits,
    ...(apiKey && { apiKey }),
  };
}
