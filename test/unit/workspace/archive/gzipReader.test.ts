import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { freeUsedUp } from '../../../../src/core/files/ownMemory.ts';
import { gunzip } from '../../../../src/workspace/archive/gzipReader.ts';
import { temporaryFolder } from '../temporaryFolder.ts';

const SMALL = Buffer.from('a line of text\n'.repeat(100));
// Neither unpacked at once nor read whole.
const LARGE = randomBytes(900_000);

async function unpack(archive: string | Buffer, options: Partial<Parameters<typeof gunzip>[1]> = {}): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(gunzip(archive, { onBytes: () => {}, ...options })));
}

/** Runs a check with an archive in memory and in a file. */
async function both(t: TestContext, bytes: Buffer, check: (archive: string | Buffer) => Promise<void>): Promise<void> {
  const path = join(temporaryFolder(t), 'archive.gz');
  writeFileSync(path, bytes);
  await check(bytes);
  await check(path);
}

/** The member with other bytes at a place, counted from the end if it is negative. */
function changed(member: Buffer, at: number, ...bytes: number[]): Buffer {
  const copy = Buffer.from(member);
  copy.set(bytes, at < 0 ? copy.length + at : at);
  return copy;
}

test('a member is unpacked, whatever its size and its header', async (t) => {
  for (const content of [Buffer.alloc(0), SMALL, LARGE]) {
    const member = gzipSync(content);
    // Extra field, name, comment and checksum of the header (RFC 1952, section 2.3).
    const header = changed(member.subarray(0, 10), 3, 2 + 4 + 8 + 16);
    const fields = Buffer.concat([Buffer.of(3, 1), Buffer.alloc(259, 'x'), Buffer.from('name\0comment\0cc')]);
    for (const archive of [member, Buffer.concat([header, fields, member.subarray(10)])]) {
      await both(t, archive, async (each) => assert.ok((await unpack(each)).equals(content)));
    }
  }
});

test('what is read and unpacked is reported before each part, up to the end', async (t) => {
  for (const content of [SMALL, LARGE]) {
    const member = gzipSync(content);
    await both(t, member, async (archive) => {
      const calls: (readonly [number, number])[] = [];
      await unpack(archive, { onBytes: (packed, unpacked) => calls.push([packed, unpacked]) });
      assert.deepEqual(calls.at(-1), [member.length - 8, content.length]);
      assert.ok(calls.every(([packed, unpacked], at) => packed > 0 && unpacked > (calls[at - 1]?.[1] ?? 0)));
    });
  }
});

test('anything but one whole member is refused with the reason', async (t) => {
  for (const content of [SMALL, LARGE]) {
    const member = gzipSync(content);
    const cases: readonly (readonly [Buffer, RegExp])[] = [
      [changed(member, 0, 0), /it is not a gzip file/],
      [changed(member, 1, 0), /it is not a gzip file/],
      [changed(member, 2, 7), /it is not a gzip file/],
      [changed(member, 3, 0x20), /its gzip header uses reserved flags/],
      [member.subarray(0, 9), /it is incomplete/],
      [member.subarray(0, 18), /it is incomplete/],
      [member.subarray(0, -9), /(incomplete or not valid|checksum is wrong)/],
      [changed(member, -8, (member.at(-8) ?? 0) ^ 1), /its checksum is wrong/],
      [changed(member, -4, (member.at(-4) ?? 0) ^ 1), /its checksum is wrong/],
      [Buffer.concat([member, Buffer.alloc(8)]), /(bytes after its end|checksum is wrong)/],
      [Buffer.concat([member, member]), /there are bytes after its end/],
      [changed(member, 10, 0xff, 0xff), /its compressed data is incomplete or not valid/],
      [changed(member.subarray(0, 200), 3, 8).fill('x', 10), /its gzip header does not end/],
    ];
    for (const [bytes, reason] of cases) {
      await both(t, bytes, (archive) => assert.rejects(unpack(archive), { code: 'corrupt', message: reason }));
    }
  }
});

test('a file that cannot be read says so, with why', async (t) => {
  const path = join(temporaryFolder(t), 'none.gz');
  const error = await unpack(path).catch((caught: Error & { code?: string }) => caught);
  assert.ok(error instanceof Error);
  assert.deepEqual([error.code, error.message], ['missing', `The archive ${path} cannot be read. Download it again.`]);
  assert.equal((error.cause as NodeJS.ErrnoException).code, 'ENOENT');
});

test("unpacking ends with the signal's reason, and with an error of who counts the bytes", async (t) => {
  const reason = new Error('enough');
  for (const content of [SMALL, LARGE]) {
    await both(t, gzipSync(content), async (archive) => {
      await assert.rejects(unpack(archive, { signal: AbortSignal.abort(reason) }), reason);
      const onBytes = (): never => {
        throw reason;
      };
      await assert.rejects(unpack(archive, { onBytes }), reason);
    });
  }
});

test('a chunk belongs to its reader, who may free its memory', async () => {
  for (const size of [100, 16_384, 40_000, 1_000_000]) {
    let read = 0;
    for await (const chunk of gunzip(gzipSync(Buffer.alloc(size, 'text')), { onBytes: () => {} })) {
      read += chunk.length;
      freeUsedUp(chunk);
    }
    assert.equal(read, size);
  }
});
