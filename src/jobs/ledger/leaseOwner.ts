import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { bootIdentity, processIdentity } from '../../core/processes/processTree.ts';

const SEPARATOR = '|';

/** A name for a lease that no other has, by which others on this machine can see whether its process still runs. */
export function leaseOwner(): string {
  return [randomUUID(), machine(), process.pid, processIdentity(process.pid) ?? ''].join(SEPARATOR);
}

/** Whether the process of this owner has surely stopped. False for a process of another machine or container, where nobody can know. */
export function hasOwnerStopped(owner: string): boolean {
  const [, place, pid, identity] = owner.split(SEPARATOR);
  if (!identity || place !== machine()) return false;
  return processIdentity(Number(pid)) !== identity;
}

/** Where process ids mean the same processes: FARWHARF_HOME may be shared with other machines and with containers. */
function machine(): string {
  return process.platform === 'linux' ? `${bootIdentity()} ${readlinkSync('/proc/self/ns/pid')}` : hostname();
}
