import { AppError } from '../../core/errors.ts';
import { LOCAL_HOST, machineOfHost, resolveHost } from '../../jobs/service/host.ts';
import type { Context } from '../command/context.ts';

/** The service that a verb about sign-ins is for. @throws AppError `bad-input` for this machine and one that ssh reaches. */
export function serviceHost({ remote, env }: Pick<Context, 'remote' | 'env'>, verb: 'login' | 'logout'): string {
  const host = resolveHost({ remote, env });
  if (host !== LOCAL_HOST && machineOfHost(host) === undefined) return host;
  const message = `Jobs on this machine, or one that ssh reaches, need no sign-in. Name a service:  farwharf ${verb} --remote https://gpu.example.org`;
  throw new AppError('bad-input', message);
}
