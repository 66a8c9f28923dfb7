import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ExitMarker } from './markers.ts';

/** The runner's argument that says that the secret of its seal comes on its standard input. */
export const SEALED = '--sealed';
export const SECRET_LENGTH = 64;

/** The report with a seal that only who knows the secret can make: a job that is not isolated can write into its folder. */
export function sealed(exit: ExitMarker, secret: string | undefined): ExitMarker {
  return secret === undefined ? exit : { ...exit, seal: sealOf(exit, secret) };
}

/** Whether the runner with this secret wrote a report. */
export function isSealed(exit: ExitMarker, secret: string): boolean {
  const [seal, expected] = [Buffer.from(exit.seal ?? ''), Buffer.from(sealOf(exit, secret))];
  return seal.length === expected.length && timingSafeEqual(seal, expected);
}

function sealOf(exit: ExitMarker, secret: string): string {
  const { outcome, code, signal, detail, at, ranSeconds, wasToldToEnd = null } = exit;
  const told = JSON.stringify([outcome, code, signal, detail, at, ranSeconds, wasToldToEnd]);
  return createHmac('sha256', secret).update(told).digest('hex');
}
