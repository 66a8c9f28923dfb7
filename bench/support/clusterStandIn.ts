import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CLAIM = JSON.stringify({ pid: 1, identity: 'stand-in' });

/**
 * Puts programs into a service's folder for files of jobs that answer a service as those of Slurm would, and do nothing else: a cluster of any size
 * that takes no part of the machine. A job runs as soon as it is submitted, unless `isFull`; nothing runs in it.
 */
export class ClusterStandIn {
  readonly #queue: string;
  readonly #full: string;

  constructor(data: string) {
    const bin = join(data, 'bin');
    mkdirSync(bin, { recursive: true });
    this.#queue = join(data, 'squeue.txt');
    this.#full = join(data, 'full');
    writeFileSync(this.#queue, '');
    const started = JSON.stringify({ pid: 1, at: Date.now() });
    const submit = `for script; do :; done
folder=\${script%/*}
# The probe of the data folder could not read it.
case "$script" in */probe.sh) : > "$folder/answer"; exit 0;; esac
state=PENDING
if [ ! -e '${this.#full}' ]; then
  state=RUNNING
  echo '${CLAIM}' > "$folder/claim.json"
  echo '${started}' > "$folder/started.json"
fi
echo "1|$state|Resources|node1|$(id -u)|N/A|\${folder##*/}" >> '${this.#queue}'
echo 1`;
    const programs = { sbatch: submit, squeue: `cat '${this.#queue}'`, scancel: ':', sacct: 'exit 1' };
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
  }

  /** From now on jobs wait. */
  fill(): void {
    writeFileSync(this.#full, '');
  }

  /** Adds jobs to the answers of the queue that the service does not know. */
  addStrangers(count: number): void {
    const lines = Array.from(
      { length: count },
      (_, i) => `${i + 10}|RUNNING|None|node1|0|N/A|${String(i).padStart(20, '0')}\n`,
    );
    writeFileSync(this.#queue, lines.join(''), { flag: 'a' });
  }
}
