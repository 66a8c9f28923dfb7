import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ExitMarker } from './markers.ts';

/** The runner's argument that announces the secret for its seal on standard input. */
export const SEALED = '--sealed';
export const SECRET_LENGTH = 64;

/** Adds a seal that only the holder of the secret can compute, because a job that is not isolated could write a report to its folder. */
export function sealed(exit: ExitMarker, secret: string | undefined): ExitMarker {
  return secret === undefined ? exit : { ...exit, seal: sealOf(exit, secret) };
}

/** Whether the runner with this secret wrote the report. */
export function isSealed(exit: ExitMarker, secret: string): boolean {
  const [seal, expected] = [Buffer.from(exit.seal ?? ''), Buffer.from(sealOf(exit, secret))];
  return seal.length === expected.length && timingSafeEqual(seal, expected);
}

function sealOf(exit: ExitMarker, secret: string): string {
  const { outcome, code, signal, detail, at, ranSeconds, frozenSeconds, wasToldToEnd = null } = exit;
  const frozen = frozenSeconds === undefined ? [] : [frozenSeconds];
  const report = JSON.stringify([outcome, code, signal, detail, at, ranSeconds, wasToldToEnd, ...frozen]);
  return createHmac('sha256', secret).update(report).digest('hex');
}
