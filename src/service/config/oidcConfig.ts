import * as z from 'zod';
import { isProviderUrl } from '../../core/network/providerRules.ts';

const text = z.string().min(1).max(1_000);
const providerUrl = text.refine(isProviderUrl, 'must be an https URL, without a user name');
const MAX_CREDITS = 1e9;

/** Who may sign in, and what the account of somebody who signs in for the first time gets. */
const rule = z
  .strictObject({
    /** Together with `values`; without both, everyone whom the provider lets sign in. */
    claim: text.optional(),
    values: z.array(text).min(1).optional(),
    group: text.optional(),
    plan: text.max(200).default('team'),
    credits: z.number().min(0).max(MAX_CREDITS).default(0),
  })
  .refine(
    ({ claim, values }) => (claim === undefined) === (values === undefined),
    'claim and values must be set together',
  );
export type SignInRule = Readonly<z.infer<typeof rule>>;

/** The section `[oidc]` of the configuration: people sign in with the site's identity provider. */
export const oidcSettings = z
  .strictObject({
    /** As the provider writes it in its metadata and tokens. */
    issuer: providerUrl,
    /** A public client of the provider, with which people sign in. */
    client_id: text,
    /** The address of this service, as people enter it: the audience of the access tokens that it accepts. */
    audience: providerUrl.refine(isPlainAddress, 'must be like https://gpu.example.org, optionally with a path'),
    scopes: z.array(text).min(1).default(['openid', 'offline_access']),
    /** The claim with the ID of a person's account. */
    account_claim: text.default('preferred_username'),
    /** The first that applies counts. */
    rules: z.array(rule).min(1),
  })
  // The audience of ID tokens is the client: they would be accepted like access tokens.
  .refine(({ audience, client_id: client }) => audience !== client, {
    path: ['audience'],
    message: 'must not be client_id',
  });
export type OidcSettings = Readonly<z.infer<typeof oidcSettings>>;

/** Whether an address is spelled as clients spell it, because they compare it with the audience. */
function isPlainAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.origin + url.pathname.replace(/\/+$/, '') === text;
}
