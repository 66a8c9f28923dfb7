import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { allowedEnvironment } from '../../../core/processes/childEnvironment.ts';
import { findProgram } from '../../../core/processes/findProgram.ts';

const PROBE_TIMEOUT_MS = 10_000;

/** How to start a process and all its children without network. */
export type NetworkNamespace =
  /** The program and arguments to prepend to the command. */
  { readonly type: 'namespace'; readonly command: readonly string[] } | { readonly type: 'none'; readonly why: string };

// Both keep the user, the files, the pipes and the process group of the command. bubblewrap also gives it a loopback address.
const CANDIDATES: readonly (readonly [program: string, ...args: string[]])[] = [
  ['bwrap', '--dev-bind', '/', '/', '--unshare-net', '--'],
  ['unshare', '--user', '--map-current-user', '--net', '--'],
];

/** Finds by trial which program can start a process without network here. Call once and use the result for all runs. */
export async function findNetworkNamespace(env: NodeJS.ProcessEnv): Promise<NetworkNamespace> {
  if (process.platform !== 'linux') return { type: 'none', why: 'Only Linux can start a process without network.' };
  const variables = allowedEnvironment(env);
  for (const [name, ...args] of CANDIDATES) {
    const program = findProgram(name, variables['PATH'] ?? '');
    if (program === undefined) continue;
    try {
      await promisify(execFile)(program, [...args, process.execPath, '--version'], {
        timeout: PROBE_TIMEOUT_MS,
        env: { ...variables, ELECTRON_RUN_AS_NODE: '1' },
      });
      return { type: 'namespace', command: [program, ...args] };
    } catch {
      // The program exists, but this machine forbids what it does. The next one may be allowed.
    }
  }
  return {
    type: 'none',
    why: 'Neither bubblewrap nor unshare can start a process without network here. Install bubblewrap.',
  };
}

/** The warning to show if child processes of tests can reach the network; undefined if they cannot. */
export function describeOpenNetwork(namespace: NetworkNamespace): string | undefined {
  if (namespace.type === 'namespace') return undefined;
  return `Tests run offline, but processes that a flow starts can reach the network. ${namespace.why}`;
}
