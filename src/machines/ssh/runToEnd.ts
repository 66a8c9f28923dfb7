import { once } from 'node:events';
import { endSession, newNonce, openSession, type SshCall } from './sshSession.ts';

// What the scripts do after their line takes less. A machine may also keep the session open.
const END_MS = 30_000;

/**
 * Runs a script to its end, and returns the line of its nonce, after which it has `endMs` left.
 *
 * @throws as `openSession`; the signal's reason on abort.
 */
export async function runToEnd(
  call: SshCall,
  scriptOf: (nonce: string) => string,
  endMs: number = END_MS,
): Promise<string> {
  const nonce = newNonce();
  const { child, line } = await openSession(call, nonce, scriptOf(nonce));
  child.stdin.end();
  child.stdout.resume();
  const limit = AbortSignal.timeout(endMs);
  try {
    if (child.exitCode !== null || child.signalCode !== null) return line;
    await once(child, 'exit', { signal: call.signal === undefined ? limit : AbortSignal.any([limit, call.signal]) });
  } catch {
    call.signal?.throwIfAborted();
  } finally {
    endSession(child);
  }
  return line;
}
