import * as z from 'zod';

/** Where a service describes how people sign in (RFC 9728, section 3.1). It needs no key, and is 404 if people need keys. */
export const SIGN_IN_PATH = '/.well-known/oauth-protected-resource';

/** The description: protected resource metadata (RFC 9728, section 2) with the ID of the client. */
export const signInDescription = z.object({
  resource: z.string().describe('the address of the service, which is the audience of access tokens'),
  authorization_servers: z.array(z.string()).min(1).describe('the issuer of access tokens'),
  bearer_methods_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()).describe('what a client requests'),
  client_id: z.string().describe('the public client with which people sign in'),
});
export type SignInDescription = z.infer<typeof signInDescription>;
