// Reads the TCP sockets of a job from Linux's /proc: proc(5).
import { readdirSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { basename } from 'node:path';
import { AppError } from '../../../core/errors.ts';
import { readText } from '../../../core/processes/procfs.ts';
import type { JobPort } from '../../../remote/tunnel/portChannels.ts';

// include/net/tcp_states.h
const ESTABLISHED = 1;
const CLOSE_WAIT = 8;
const LISTEN = 10;
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const INTERPRETER = /^(?:python[\d.]*|node|ruby[\d.]*|perl[\d.]*|bash|sh)$/;
// The next word is a program text.
const INLINE = /^(?:-[a-z]*[ce]|-p|--eval|--print)$/;
const MAX_NAME = 64;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;
const ANY = new Set(['0.0.0.0', '::', '::ffff:0.0.0.0']);
const MAPPED = '::ffff:';

/** A TCP socket of the network in which a job runs, with the job's or with others. */
export interface TcpSocket {
  readonly address: string;
  readonly port: number;
  readonly peer: { readonly address: string; readonly port: number };
  readonly state: 'listening' | 'open' | 'other';
  /** 0 for one that no program has accepted yet, or has closed. */
  readonly inode: number;
}

/** A socket on which a process of the job accepts connections from its own machine. */
export interface Listener extends TcpSocket {
  readonly pid: number;
}

/** IDs of all processes of a job; the rest is not read once what is looked for was found. */
export type ProcessesOfJob = () => Iterable<number>;

/** The TCP sockets of a job's network, and which of them are the job's. Calls at the same time share what they read. */
export class JobSockets {
  readonly #processes: ProcessesOfJob;
  /** By inode, which no later socket has. */
  readonly #listeners = new Map<number, number>();
  #reading: Promise<SocketTable> | undefined;
  #next: Promise<SocketTable> | undefined;

  constructor(processes: ProcessesOfJob) {
    this.#processes = processes;
  }

  /** The sockets as they are after this call. @throws AppError `refused` where the system does not list them. */
  read(): Promise<SocketTable> {
    if (this.#reading === undefined) return this.#start();
    this.#next ??= this.#reading.then(
      () => this.#start(),
      () => this.#start(),
    );
    return this.#next;
  }

  /** Those of some sockets on which processes of the job accept connections from their own machine. */
  listenersAmong(sockets: readonly TcpSocket[]): readonly Listener[] {
    const listening = sockets.filter(({ state, address }) => state === 'listening' && isLocal(address));
    const unknown = new Set(listening.flatMap(({ inode }) => (this.#listeners.has(inode) ? [] : inode)));
    for (const [inode, pid] of ownersOf(unknown, this.#processes())) this.#listeners.set(inode, pid);
    return listening.flatMap((socket) => {
      const pid = this.#listeners.get(socket.inode);
      return pid === undefined ? [] : { ...socket, pid };
    });
  }

  /** Whether a process of the job has a socket open. @param likely processes that are looked at first. */
  owns(table: SocketTable, inode: number, likely: readonly number[]): boolean {
    if (likely.some((pid) => table.socketsOf(pid).has(inode))) return true;
    for (const pid of this.#processes()) if (table.socketsOf(pid).has(inode)) return true;
    return false;
  }

  #start(): Promise<SocketTable> {
    this.#next = undefined;
    const reading = readTcpSockets().finally(() => {
      if (this.#reading === reading) this.#reading = undefined;
    });
    this.#reading = reading;
    return reading;
  }
}

/** The TCP sockets of a moment. */
export class SocketTable {
  readonly sockets: readonly TcpSocket[];
  readonly #byProcess = new Map<number, ReadonlySet<number>>();

  constructor(sockets: readonly TcpSocket[]) {
    this.sockets = sockets;
  }

  /** Inodes of the sockets that a process has open, from this moment on. */
  socketsOf(pid: number): ReadonlySet<number> {
    const known = this.#byProcess.get(pid);
    if (known !== undefined) return known;
    const found = new Set(socketsOf(pid));
    this.#byProcess.set(pid, found);
    return found;
  }
}

async function readTcpSockets(): Promise<SocketTable> {
  if (process.platform !== 'linux') {
    throw new AppError('refused', 'The ports of a job can be found only where it runs on Linux.');
  }
  const texts = await Promise.all(TABLES.map((path) => readFile(path, 'latin1').catch(() => '')));
  return new SocketTable(texts.flatMap((text) => text.split('\n').slice(1).flatMap(parseRow)));
}

/** The process that has each of these sockets open, if it is one of the job: the first of them. */
function ownersOf(inodes: ReadonlySet<number>, processes: Iterable<number>): ReadonlyMap<number, number> {
  const owners = new Map<number, number>();
  if (inodes.size === 0) return owners;
  for (const pid of processes) {
    for (const inode of socketsOf(pid)) if (inodes.has(inode) && !owners.has(inode)) owners.set(inode, pid);
    if (owners.size === inodes.size) break;
  }
  return owners;
}

/** What clients see of listeners: each port once, in order. */
export function describePorts(listeners: readonly Listener[]): readonly JobPort[] {
  const byPort = Map.groupBy(listeners, ({ port }) => port);
  return [...byPort]
    .toSorted(([one], [other]) => one - other)
    .map(([port, own]) => {
      const name = programName(own[0]?.pid ?? 0);
      return { port, isPublic: own.some(({ address }) => ANY.has(address)), ...(name !== '' && { process: name }) };
    });
}

/** The address at which a client on the same machine reaches a listener. */
export function loopbackOf({ address }: Listener): string {
  if (address === '::') return '::1';
  const plain = withoutMapping(address);
  return plain === '0.0.0.0' ? '127.0.0.1' : plain;
}

/** The other end of a connection within this machine. */
export function otherEndOf(
  sockets: readonly TcpSocket[],
  { local, remote }: { readonly local: TcpSocket['peer']; readonly remote: TcpSocket['peer'] },
): TcpSocket | undefined {
  const isSame = (one: TcpSocket['peer'], other: TcpSocket['peer']): boolean =>
    one.port === other.port && withoutMapping(one.address) === withoutMapping(other.address);
  return sockets.find((socket) => socket.state !== 'listening' && isSame(socket, remote) && isSame(socket.peer, local));
}

/** IPv4 in IPv6 is IPv4 (RFC 4291, section 2.5.5.2). */
function withoutMapping(address: string): string {
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
}

function isLocal(address: string): boolean {
  return LOOPBACK.test(address) || ANY.has(address);
}

function parseRow(row: string): TcpSocket | [] {
  const [, local = '', remote = '', state = '', , , , , , inode = ''] = row.trim().split(/\s+/);
  if (inode === '') return [];
  return {
    ...parseEndpoint(local),
    peer: parseEndpoint(remote),
    state: stateOf(Number.parseInt(state, 16)),
    inode: Number(inode),
  };
}

function stateOf(state: number): TcpSocket['state'] {
  if (state === LISTEN) return 'listening';
  return state === ESTABLISHED || state === CLOSE_WAIT ? 'open' : 'other';
}

function parseEndpoint(text: string): { readonly address: string; readonly port: number } {
  const [address = '', port = ''] = text.split(':');
  return { address: parseAddress(address), port: Number.parseInt(port, 16) };
}

/** Words of 32 bits in the order of the machine. */
function parseAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.subarray(0, 10).every((byte) => byte === 0) && bytes.readUInt16BE(10) === 0xffff) {
    return MAPPED + bytes.subarray(12).join('.');
  }
  if (bytes.every((byte) => byte === 0)) return '::';
  return bytes.readBigUInt64BE(0) === 0n && bytes.readBigUInt64BE(8) === 1n ? '::1' : bytes.toString('hex');
}

function socketsOf(pid: number): readonly number[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((name) => socketAt(`${folder}/${name}`));
  } catch {
    return []; // it has ended
  }
}

function socketAt(path: string): number | [] {
  try {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(readlinkSync(path)) ?? [];
    return inode === undefined ? [] : Number(inode);
  } catch {
    return []; // it was closed
  }
}

/** What a person calls the program of a process: the script or module of an interpreter, otherwise the program. */
function programName(pid: number): string {
  const [first = '', ...args] = readText(`/proc/${pid}/cmdline`).split('\0');
  // A program that sets its title has all of it as its first word.
  const program = basename(first.split(' ')[0] ?? '').replace(/:$/, '');
  const script = INTERPRETER.test(program) ? scriptOf(args) : undefined;
  const name = script ?? (program || readText(`/proc/${pid}/comm`).trim());
  return name.slice(0, MAX_NAME);
}

function scriptOf(args: readonly string[]): string | undefined {
  const index = args.findIndex((word) => word === '-m' || !word.startsWith('-'));
  const word = args[index] === '-m' ? args[index + 1] : args[index];
  return args.slice(0, index).some((option) => INLINE.test(option)) ? undefined : basename(word ?? '') || undefined;
}
