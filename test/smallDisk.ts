import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const PAGE_BYTES = 4096;
const MOST_NAMES = 1e6;

/** A disk of its own for a test, which can be filled. */
export interface SmallDisk {
  readonly disk: string;
  /** A FARWHARF_HOME on it, which is not there yet. */
  readonly home: string;
  fill(): void;
  /** Makes room for so many pages on a disk that is full. */
  freePages(count: number): void;
  free(): void;
  /** Leaves room for so many names of files, folders and links; undefined for any number. */
  leaveNames(count: number | undefined): void;
}

/** Undefined where none can be mounted, which the test then says. It goes with the test. */
export function smallDisk(t: TestContext, megabytes = 24): SmallDisk | undefined {
  const base = mkdtempSync(join(tmpdir(), 'farwharf-disk-'));
  const disk = join(base, 'disk');
  mkdirSync(disk);
  t.after(() => {
    spawnSync('umount', ['-l', disk]);
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  });
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,nr_inodes=${MOST_NAMES}`, 'tmpfs', disk], {
    encoding: 'utf8',
  });
  if (mount.status !== 0) {
    t.skip(`NOT TESTED: no small disk can be mounted here: ${mount.stderr || String(mount.error)}`);
    return undefined;
  }
  const filler = join(disk, 'filler');
  const fill = (): void => {
    writeFileSync(filler, '');
    for (const piece of [Buffer.alloc(64 * PAGE_BYTES), Buffer.alloc(PAGE_BYTES)]) {
      assert.throws(() => {
        for (;;) appendFileSync(filler, piece);
      }, /ENOSPC/);
    }
  };
  const freePages = (count: number): void => truncateSync(filler, statSync(filler).size - count * PAGE_BYTES);
  const leaveNames = (count: number | undefined): void => {
    const { files, ffree } = statfsSync(disk);
    const most = count === undefined ? MOST_NAMES : files - ffree + count;
    const { status, stderr } = spawnSync('mount', ['-o', `remount,nr_inodes=${most}`, disk], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  };
  return { disk, home: join(disk, 'home'), fill, freePages, free: () => rmSync(filler), leaveNames };
}
