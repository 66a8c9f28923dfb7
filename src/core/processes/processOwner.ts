import { hash } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processIdentity } from './processTree.ts';

const TOKEN = /^([0-9a-f]{8})-(\d{1,10})-([0-9a-f]{8})$/;

/** Names this process in a file name, so that other processes of this machine can see whether it still runs. */
export function processOwner(): string {
  return `${place()}-${process.pid}-${digest(processIdentity(process.pid) ?? '')}`;
}

/** What is known of a process that `processOwner` named: nothing, where it ran on another machine or in another container. */
export function ownerState(token: string): 'running' | 'stopped' | 'unknown' {
  const [, where, pid, identity] = TOKEN.exec(token) ?? [];
  if (where !== place()) return 'unknown';
  return digest(processIdentity(Number(pid)) ?? 'stopped') === identity ? 'running' : 'stopped';
}

/** Where process ids mean the same processes, also after the machine was started again. */
function place(): string {
  return digest(`${hostname()} ${process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : ''}`);
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 8);
}
