import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { machineFailure, MachineUnreachable } from '../ssh/sshFailure.ts';
import { endSession, exitOf, newNonce, openSession, outputUntil, type SshCall } from '../ssh/sshSession.ts';
import { uploadScript } from './scripts.ts';

const PIECE_BYTES = 64 * 1024;

export interface MachineUpload {
  /** Its path in the root on the machine; a folder. */
  readonly destination: string;
  /** A command that must succeed with the unpacked files before they are placed. */
  readonly check?: string;
  readonly onProgress?: ((doneBytes: number, totalBytes: number) => void) | undefined;
}

/**
 * Copies a .tar.gz to a machine and unpacks it there, completely or not at all.
 *
 * @throws as `openSession`; AppError with the remedy if the machine cannot store it; `MachineUnreachable` if the connection is lost.
 */
export async function uploadToMachine(
  call: SshCall,
  archive: Buffer,
  { destination, check, onProgress }: MachineUpload,
): Promise<void> {
  const nonce = newNonce();
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const script = uploadScript(nonce, { destination, size: archive.length, sha256, check });
  const { machine, signal } = call;
  const failure = (stderr: string): Error => {
    const last = printableLine(stderr.trim().split('\n').at(-1) ?? '');
    return (
      machineFailure(machine, stderr) ??
      (last === ''
        ? lost(machine)
        : new AppError('refused', `Farwharf could not be copied to ${machine}: ${last}. Nothing was changed there.`))
    );
  };
  const { child, stderr } = await openSession(call, nonce, script).catch((error: unknown) => {
    // The script failed before it asked for the archive.
    throw error instanceof MachineUnreachable ? (machineFailure(machine, error.message) ?? error) : error;
  });
  try {
    const output = outputUntil(child, `${nonce} end`, signal);
    const pieces = Readable.from(piecesOf(archive, (doneBytes) => onProgress?.(doneBytes, archive.length)));
    await pipeline(pieces, child.stdin).catch(() => {}); // the output says why
    if ((await output).includes(`${nonce} placed`)) return;
    await exitOf(child);
    signal?.throwIfAborted();
    throw failure(stderr());
  } finally {
    endSession(child);
  }
}

function* piecesOf(archive: Buffer, onSent: (doneBytes: number) => void): Generator<Buffer, void> {
  for (let at = 0; at < archive.length; at += PIECE_BYTES) {
    yield archive.subarray(at, at + PIECE_BYTES);
    onSent(Math.min(at + PIECE_BYTES, archive.length));
  }
}

function lost(machine: string): MachineUnreachable {
  return new MachineUnreachable(
    `The connection to ${machine} was lost while Farwharf was copied, so nothing is installed there. Connect again.`,
  );
}
