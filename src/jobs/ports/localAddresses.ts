import { isOwnMachine } from '../../core/network/loopback.ts';
import { isPort } from '../../remote/tunnel/portChannels.ts';

// Logs show no longer ones.
const MAX_LINE = 10_000;
const MOST_PRINTED = 1_000;
const MAYBE_ADDRESS = /:\/\/|(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d/i;
// What editors and terminals make a link of, and, as Ray prints them, addresses without a scheme.
const ADDRESS =
  /\bhttps?:\/\/[^\s"'`<>\\^{}|]+|(?<![\w./:@-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d{1,5}(?![\w:.]*\w)/gi;
const CLOSING = new Set('.,;:!?)]');
const IPV6_HOST = /^https?:\/\/\[[^\]]*\]/i;
const HTTP = 'http:';
const DEFAULT_PORTS: Readonly<Record<string, number>> = { [HTTP]: 80, 'https:': 443 };

/** An address that a program printed and that is on the machine where it runs. */
export interface LocalAddress {
  /** Where it is in the line, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly port: number;
  readonly scheme: 'http' | 'https';
  /** What follows the port, with its `/`: path, query and fragment. */
  readonly rest: string;
  /** Whether it is printed as a URL, so that a page is probably there. */
  readonly isUrl: boolean;
}

/** Finds the addresses in a line of output that lead to the machine where the program runs. For anybody else, they lead to another machine. */
export function findLocalAddresses(output: string): LocalAddress[] {
  const line = output.slice(0, MAX_LINE);
  if (!MAYBE_ADDRESS.test(line)) return [];
  return [...line.matchAll(ADDRESS)].flatMap(({ 0: match, index }) => parseAddress(withoutClosing(match), index) ?? []);
}

function parseAddress(text: string, start: number): LocalAddress | undefined {
  const isUrl = /^https?:/i.test(text);
  const url = URL.parse(isUrl ? text : `${HTTP}//${text}`);
  if (url === null || !isOwnMachine(url.hostname)) return undefined;
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  if (port === undefined || !isPort(port)) return undefined;
  const scheme = url.protocol === HTTP ? 'http' : 'https';
  return { start, end: start + text.length, port, scheme, rest: url.pathname + url.search + url.hash, isUrl };
}

/** What ends a sentence around an address does not belong to it; the end of an IPv6 address does. */
function withoutClosing(text: string): string {
  const host = IPV6_HOST.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > host && CLOSING.has(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

/** Finds the addresses in output that arrives in pieces. */
export class PrintedAddresses {
  #line = '';
  #left = MOST_PRINTED;

  /** Those in the lines that a piece completes, until there were too many to be meant for people. */
  push(text: string): LocalAddress[] {
    if (this.#left === 0) return [];
    const lines = (this.#line + text).split('\n');
    this.#line = lines.pop()?.slice(0, MAX_LINE) ?? '';
    const found = lines.flatMap(findLocalAddresses).slice(0, this.#left);
    this.#left -= found.length;
    return found;
  }
}
