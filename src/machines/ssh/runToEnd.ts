import { once } from 'node:events';
import { newNonce, openSession, type SshCall } from './sshSession.ts';

/** Runs a script to its end, and returns the line of its nonce. @throws as `openSession`. */
export async function runToEnd(call: SshCall, scriptOf: (nonce: string) => string): Promise<string> {
  const nonce = newNonce();
  const { child, line } = await openSession(call, nonce, scriptOf(nonce));
  child.stdin.end();
  child.stdout.resume();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return line;
}
