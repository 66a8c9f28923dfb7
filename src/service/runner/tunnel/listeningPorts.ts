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
const FILES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** How many sockets of the network are in use. */
const COUNTS = ['/proc/net/sockstat', '/proc/net/sockstat6'];
// Local and remote address, and the state.
const ROW = /^\s*\d+: \S+:(\S{4}) \S+:(\S{4}) (\S\S) /;
// The state LISTEN.
const LISTENING = '0A';
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
  /** Whether it is an end of a connection that can still send. */
  readonly isOpen: boolean;
  /** 0 for one that no program has accepted yet, or has closed. */
  readonly inode: number;
  /** Where it is listed. What a listening socket accepts is listed there too. */
  readonly file: SocketFile;
}

type SocketFile = (typeof FILES)[number];

/** A socket on which a process of the job accepts connections from its own machine. */
export interface Listener extends TcpSocket {
  readonly pid: number;
}

/** IDs of all processes of a job; the rest is not read once what is looked for was found. */
export type ProcessesOfJob = () => Iterable<number>;

/**
 * The TCP sockets of a job's network, and which of them are the job's. Calls at the same time share what they read: the kernel takes some
 * milliseconds for a list, whatever its length.
 */
export class JobSockets {
  readonly #processes: ProcessesOfJob;
  /** By inode, which no later socket has. */
  readonly #listeners = new Map<number, number>();
  readonly #connected = new Map<number, readonly Listener[]>();
  readonly #lists = new Map<SocketFile, SharedList>(FILES.map((file) => [file, new SharedList(file)]));

  constructor(processes: ProcessesOfJob) {
    this.#processes = processes;
  }

  /** The sockets of some of the files as they are after this call. @throws AppError `refused` where the system does not list them. */
  async read(files: Iterable<SocketFile> = FILES): Promise<readonly SocketList[]> {
    if (process.platform !== 'linux') {
      throw new AppError('refused', 'The ports of a job can be found only where it runs on Linux.');
    }
    return Promise.all([...files].flatMap((file) => this.#lists.get(file)?.read() ?? []));
  }

  /** What was connected to last at a port. */
  knownOn(port: number): readonly Listener[] {
    return this.#connected.get(port) ?? [];
  }

  remember(port: number, listeners: readonly Listener[]): void {
    this.#connected.set(port, listeners);
  }

  /** Those of some listening sockets on which processes of the job accept connections from their own machine. */
  listenersAmong(sockets: readonly TcpSocket[]): readonly Listener[] {
    const listening = sockets.filter(({ address }) => isLocal(address));
    const unknown = new Set(listening.flatMap(({ inode }) => (this.#listeners.has(inode) ? [] : inode)));
    for (const [inode, pid] of ownersOf(unknown, this.#processes())) this.#listeners.set(inode, pid);
    return listening.flatMap((socket) => {
      const pid = this.#listeners.get(socket.inode);
      return pid === undefined ? [] : { ...socket, pid };
    });
  }

  /** Whether a process of the job has a socket open. @param likely processes that are looked at first. */
  owns(list: SocketList, inode: number, likely: readonly number[]): boolean {
    if (likely.some((pid) => list.socketsOf(pid).has(inode))) return true;
    for (const pid of this.#processes()) if (list.socketsOf(pid).has(inode)) return true;
    return false;
  }
}

/** A file that lists sockets, read for all that wait for it. */
class SharedList {
  readonly #file: SocketFile;
  #reading: Promise<SocketList> | undefined;
  #next: Promise<SocketList> | undefined;

  constructor(file: SocketFile) {
    this.#file = file;
  }

  /** As it is after this call. */
  read(): Promise<SocketList> {
    if (this.#reading === undefined) return this.#start();
    this.#next ??= this.#reading.then(() => this.#start());
    return this.#next;
  }

  async #start(): Promise<SocketList> {
    this.#next = undefined;
    const reading = readFile(this.#file, 'latin1')
      .catch(() => '')
      .then((text) => new SocketList(this.#file, text));
    this.#reading = reading;
    const list = await reading;
    if (this.#reading === reading) this.#reading = undefined;
    return list;
  }
}

/** The TCP sockets that a file lists at a moment. */
export class SocketList {
  readonly #file: SocketFile;
  /** Rows by their two ports; most rows are never looked at. */
  readonly #rows = new Map<string, string[]>();
  readonly listening: readonly TcpSocket[];
  readonly #byProcess = new Map<number, ReadonlySet<number>>();

  constructor(file: SocketFile, text: string) {
    this.#file = file;
    const listening: string[] = [];
    for (const row of text.split('\n')) {
      const [, local = '', remote = '', state = ''] = ROW.exec(row) ?? [];
      if (state === LISTENING) listening.push(row);
      else if (state !== '') this.#rows.set(local + remote, [...(this.#rows.get(local + remote) ?? []), row]);
    }
    this.listening = listening.flatMap((row) => parseRow(file, row));
  }

  /** The other end of a connection within this machine. */
  otherEndOf({
    local,
    remote,
  }: {
    readonly local: TcpSocket['peer'];
    readonly remote: TcpSocket['peer'];
  }): TcpSocket | undefined {
    const isSame = (one: TcpSocket['peer'], other: TcpSocket['peer']): boolean =>
      one.port === other.port && withoutMapping(one.address) === withoutMapping(other.address);
    const rows = this.#rows.get(hexPort(remote.port) + hexPort(local.port)) ?? [];
    return rows
      .flatMap((row) => parseRow(this.#file, row))
      .find((socket) => isSame(socket, remote) && isSame(socket.peer, local));
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

/** A text that changes whenever there are more or fewer TCP sockets in use in the network: cheap, unlike their list. */
export async function socketCounts(): Promise<string> {
  const texts = await Promise.all(COUNTS.map((path) => readFile(path, 'latin1').catch(() => '')));
  return texts.map((text) => /^TCP6?: inuse \d+/m.exec(text)?.[0] ?? '').join(' ');
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

/** IPv4 in IPv6 is IPv4 (RFC 4291, section 2.5.5.2). */
function withoutMapping(address: string): string {
  return address.startsWith(MAPPED) ? address.slice(MAPPED.length) : address;
}

function isLocal(address: string): boolean {
  return LOOPBACK.test(address) || ANY.has(address);
}

function parseRow(file: SocketFile, row: string): TcpSocket | [] {
  const [, local = '', remote = '', state = '', , , , , , inode = ''] = row.trim().split(/\s+/);
  if (inode === '') return [];
  const number = Number.parseInt(state, 16);
  return {
    ...parseEndpoint(local),
    peer: parseEndpoint(remote),
    isOpen: number === ESTABLISHED || number === CLOSE_WAIT,
    inode: Number(inode),
    file,
  };
}

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
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
