import { isIP } from 'node:net';
import * as z from 'zod';

/** The section `[proxy]` of the configuration: whose `X-Forwarded-For` is believed. Without it, nobody's. */
export const proxySettings = z.strictObject({
  /** The addresses that the proxy connects from. */
  addresses: z
    .array(z.string().refine((address) => isIP(address) !== 0, 'must be an IP address'))
    .min(1)
    .default(['127.0.0.1', '::1']),
});
export type ProxySettings = z.infer<typeof proxySettings>;

/** A proxy on this machine. */
export const DEFAULT_PROXY: ProxySettings = proxySettings.parse({});
