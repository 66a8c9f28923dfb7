import { execFileSync } from 'node:child_process';

/** The processes of this machine whose command line holds a text, which should be one that nobody else has. */
export function processesWith(text: string): readonly string[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(text)).map((line) => line.trim());
}
