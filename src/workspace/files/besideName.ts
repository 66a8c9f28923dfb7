import { posix } from 'node:path';
import { fitName, namesOn } from './nameRules.ts';

/** `plots/loss (job 7).png`, then `plots/loss (job 7) 2.png`. */
export function nameBeside(path: string, label: string, number: number): string {
  const { dir, base } = posix.parse(path);
  return posix.join(dir, fitName(base, ` (${label})${number === 1 ? '' : ` ${number}`}`, namesOn()));
}

/** The label of a job as a part of file names. */
export function safeLabel(label: string): string {
  return label.replace(/^\.|[^\w.-]+/g, '_').slice(0, 64) || '_';
}
