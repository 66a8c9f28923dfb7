import { assertNever } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { LOCAL_HOST } from '../../jobs/service/host.ts';

/** A host as people call it: `this machine`, `gpu.example.org`. */
export function hostLabel(host: string): string {
  return host === LOCAL_HOST ? 'this machine' : printableLine(host.replace(/^https?:\/\//, ''));
}

/** What the Jobs view says above its rows about the host; undefined while there is nothing to say. */
export function connectionText(state: 'ready' | 'signedOut' | 'unreachable', host: string): string | undefined {
  switch (state) {
    case 'ready':
      return undefined;
    case 'signedOut':
      return `You are not signed in to ${hostLabel(host)}. Jobs there are shown as they were last seen.`;
    case 'unreachable':
      return `${host === LOCAL_HOST ? 'The job service of this machine' : hostLabel(host)} does not answer. Jobs there are shown as they were last seen; they keep running.`;
    default:
      return assertNever(state);
  }
}
