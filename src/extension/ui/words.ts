import { assertNever } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';

/** The display name of a host: `this machine`, `gpu.example.org`. */
export function hostLabel(host: string): string {
  return host === LOCAL_HOST ? 'this machine' : printableLine(host.replace(/^(?:https?|ssh):\/\//, ''));
}

/** The message about the host above the rows of the Jobs view; undefined if all is well. */
export function connectionText(state: 'ready' | 'signedOut' | 'unreachable', host: string): string | undefined {
  switch (state) {
    case 'ready':
      return undefined;
    case 'signedOut':
      return `You are not signed in to ${hostLabel(host)}. Its jobs are shown in their last known state.`;
    case 'unreachable':
      return `${host === LOCAL_HOST ? 'The job service on this machine' : hostLabel(host)} does not respond. Its jobs are shown in their last known state and keep running.`;
    default:
      return assertNever(state);
  }
}
