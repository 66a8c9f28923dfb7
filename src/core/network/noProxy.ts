import { BlockList, isIP, isIPv4 } from 'node:net';

/**
 * Whether a `NO_PROXY` list contains the host of a URL, by curl's rules: entries are separated by commas or spaces; `example.org` includes
 * its subdomains, with or without a leading dot or `*.`; an entry may have a port; addresses may be ranges (`10.0.0.0/8`); `*` matches
 * every host.
 */
export function isInNoProxy(list: string, { hostname, port, protocol }: URL): boolean {
  const host = bare(hostname);
  const portOfUrl = port || (protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const { name, entryPort } = splitPort(entry);
      if (name === '' || (entryPort !== undefined && entryPort !== portOfUrl)) return false;
      return isIP(host) === 0 ? host === name || host.endsWith(`.${name}`) : isInRange(host, name);
    });
}

function splitPort(entry: string): { name: string; entryPort: string | undefined } {
  const [, host = entry, entryPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  return { name: bare(host).replace(/^\*?\./, ''), entryPort };
}

function isInRange(address: string, range: string): boolean {
  const [start = '', bits] = range.split('/');
  if (isIP(start) !== isIP(address)) return false;
  const family = isIPv4(start) ? 'ipv4' : 'ipv6';
  const length = bits === undefined ? (family === 'ipv4' ? 32 : 128) : Number(bits);
  if (!Number.isInteger(length) || length < 0 || length > (family === 'ipv4' ? 32 : 128)) return false;
  const block = new BlockList();
  block.addSubnet(start, length, family);
  return block.check(address, family);
}

/** Without the brackets of an IPv6 address and the dot that may end a name. */
function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
