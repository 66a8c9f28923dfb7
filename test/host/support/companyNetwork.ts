import type { Release } from '../../../scripts/vscode/releases.ts';
import { Scratch } from '../../service/commandLine.ts';
import { deadAddress } from '../../service/support/forwardProxy.ts';
import { serveRemotely } from '../../service/support/remoteService.ts';
import { type Network, NETWORK_VARIABLE } from './network.ts';

/**
 * A service with a private authority's certificate, and the environment of a VS Code whose system trusts that authority.
 *
 * @param authorityVariable as in `Release`.
 */
export async function startCompanyNetwork({
  authorityVariable,
}: Pick<Release, 'authorityVariable'>): Promise<AsyncDisposable & { readonly env: NodeJS.ProcessEnv }> {
  const scratch = await Scratch.create();
  const { url, key, place, authority } = await serveRemotely(scratch);
  const dead = await deadAddress();
  const network: Network = { url, key, place, dead };
  return {
    env: {
      [NETWORK_VARIABLE]: JSON.stringify(network),
      NODE_EXTRA_CA_CERTS: undefined,
      [authorityVariable]: authority.cert,
      // With this, Node sends the requests of its global agents to a proxy, those to this machine too.
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: `http://${dead}`,
      HTTPS_PROXY: `http://${dead}`,
      http_proxy: undefined,
      https_proxy: undefined,
      NO_PROXY: undefined,
      no_proxy: undefined,
    },
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}
