import { posix } from 'node:path';

/** `plots/loss (job 7).png`, then `plots/loss (job 7) 2.png`. */
export function nameBeside(path: string, label: string, number: number): string {
  const { dir, name, ext } = posix.parse(path);
  return posix.join(dir, `${name} (${label})${number === 1 ? '' : ` ${number}`}${ext}`);
}

/** The label of a job as a part of file names. */
export function safeLabel(label: string): string {
  return label.replace(/^\.|[^\w.-]+/g, '_').slice(0, 64) || '_';
}
