import { createBoundedFetch } from '../../core/network/boundedFetch.ts';
import { discoverProvider } from '../../core/network/discovery.ts';
import { silentLogger } from '../../core/log.ts';
import type { OidcSettings } from '../config/oidcConfig.ts';
import { type ExecutorCheck, problemOf } from '../executor/executorKind.ts';
import { TokenVerifier } from './tokenVerifier.ts';

/** Checks whether people could sign in: the provider answers, has keys, and offers what the command line and VS Code need. */
export async function checkProvider(settings: OidcSettings): Promise<ExecutorCheck> {
  const { issuer } = settings;
  const what = `people can sign in at ${issuer}`;
  let warning: string | undefined;
  const problem = await problemOf(async () => {
    await new TokenVerifier(settings, silentLogger).load();
    const provider = await discoverProvider(issuer, { fetch: createBoundedFetch() });
    if (provider.device_authorization_endpoint !== undefined) return;
    warning = `The identity provider ${issuer} offers no device flow (RFC 8628), which farwharf login needs. Enable it there.`;
  });
  return { what, problem, ...(warning !== undefined && { warning }) };
}
