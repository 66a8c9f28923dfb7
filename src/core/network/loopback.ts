// Names and addresses that never leave the machine (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3).
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
// Also subdomains of localhost, IPv4 in IPv6, and the unspecified address, which systems treat as loopback.
const OWN_MACHINE = /^(?:(?:.+\.)?localhost\.?|0\.0\.0\.0|\[::\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/;

/** Whether data sent to this host of a URL stays on this machine. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** Whether a proxy would look on its own machine for this host of a URL. Wider than `isLoopback`: resolvers need not treat `x.localhost` as local. */
export function isOwnMachine(hostname: string): boolean {
  return isLoopback(hostname) || OWN_MACHINE.test(hostname);
}
