import { hash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processIdentity } from './processTree.ts';

const TOKEN = /^([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})$/;

/** A name for this process, for files and leases, by which other processes on this machine can check whether it is still running. */
export function processOwner(): string {
  return `${place()}-${process.pid}-${digest(processIdentity(process.pid) ?? '')}`;
}

/** The state of a process named by `processOwner`; `unknown` for another machine or container. */
export function ownerState(token: string): 'running' | 'stopped' | 'unknown' {
  const [, where, pid, identity] = TOKEN.exec(token) ?? [];
  if (where !== place()) return 'unknown';
  return digest(processIdentity(Number(pid)) ?? 'stopped') === identity ? 'running' : 'stopped';
}

/** Identifies where process IDs mean the same processes; the same after a reboot. */
function place(): string {
  return digest(`${hostname()} ${process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : ''}`);
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 8);
}
