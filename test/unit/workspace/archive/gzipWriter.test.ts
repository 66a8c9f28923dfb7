import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, gunzipSync } from 'node:zlib';
import { GzipWriter } from '../../../../src/workspace/archive/gzipWriter.ts';
import { seeded } from '../../../random.ts';

const MIB = 1 << 20;

/** A writer, and the bytes that it has written so far. */
function collect(): { readonly writer: GzipWriter; readonly bytes: () => Buffer } {
  const parts: Buffer[] = [];
  const writer = new GzipWriter(async (bytes) => void parts.push(Buffer.from(bytes)));
  return { writer, bytes: () => Buffer.concat(parts) };
}

function noise(length: number, seed = 1): Buffer {
  const below = seeded(seed);
  return Buffer.from(Array.from({ length }, () => below(256)));
}

const text = (length: number): Buffer => Buffer.alloc(length, 'a line of text\n');

test('a stream is one gzip member, whatever the sizes of its pieces', async () => {
  const content = Buffer.concat([text(MIB + 5), noise(200_000), text(1_300_000)]);
  let first: Buffer | undefined;
  for (const size of [content.length, MIB, 100_003]) {
    const { writer, bytes } = collect();
    for (let at = 0; at < content.length; at += size) await writer.write(content.subarray(at, at + size));
    await writer.end();
    assert.ok(gunzipSync(bytes()).equals(content));
    first ??= bytes();
    assert.ok(bytes().equals(first), `pieces of ${size} bytes`);
  }
  assert.deepEqual([...(first?.subarray(0, 10) ?? [])], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
});

test('an empty stream is an empty gzip member', async () => {
  const { writer, bytes } = collect();
  await writer.end();
  assert.equal(gunzipSync(bytes()).length, 0);
});

test('what is compressed already is stored, and text among it is not', async () => {
  const packedSize = async (content: Buffer): Promise<number> => {
    const { writer, bytes } = collect();
    await writer.write(content);
    await writer.end();
    assert.ok(gunzipSync(bytes()).equals(content));
    return bytes().length;
  };
  const random = noise(MIB);
  const stored = await packedSize(random);
  assert.ok(stored > MIB && stored < MIB + 1_000, String(stored));
  const mixed = Buffer.concat([noise(MIB / 2), text(MIB / 2)]);
  assert.ok((await packedSize(mixed)) < 0.6 * MIB);
  assert.ok((await packedSize(text(MIB))) < 10_000);
  assert.ok((await packedSize(text(1_000))) < 100, 'a small block has no samples');
});

test('a segment can be taken over into another stream, with its sizes and checksums', async () => {
  const one = collect();
  const contents = [text(1_500_000), noise(10_000, 2), Buffer.alloc(0)];
  const segments = [];
  for (const content of contents) {
    segments.push(await one.writer.startSegment());
    await one.writer.write(content);
  }
  await one.writer.end();
  assert.ok(gunzipSync(one.bytes()).equals(Buffer.concat(contents)));
  assert.deepEqual(
    segments.map(({ bytes, crc }) => [bytes, crc]),
    contents.map((content) => [content.length, crc32(content)]),
  );
  let start = 10;
  const packed = segments.map(({ packedBytes }) => one.bytes().subarray(start, (start += packedBytes)));
  assert.deepEqual(
    segments.map(({ packedCrc }) => packedCrc),
    packed.map((bytes) => crc32(bytes)),
  );
  assert.equal(start + 10, one.bytes().length);

  const other = collect();
  const [first, second] = segments;
  assert.ok(first !== undefined && second !== undefined);
  async function* bytesOf(index: number): AsyncGenerator<Buffer> {
    yield packed[index] ?? Buffer.alloc(0);
  }
  await other.writer.append(second, bytesOf(1));
  await other.writer.startSegment();
  await other.writer.write(Buffer.from('between'));
  await other.writer.append(first, bytesOf(0));
  await other.writer.end();
  const expected = Buffer.concat([
    contents[1] ?? Buffer.alloc(0),
    Buffer.from('between'),
    contents[0] ?? Buffer.alloc(0),
  ]);
  assert.ok(gunzipSync(other.bytes()).equals(expected));
});

test('a stream that cannot be written is the error of the sink', async () => {
  const writer = new GzipWriter(async () => Promise.reject(new Error('disk full')));
  await assert.rejects(async () => {
    await writer.write(text(3 * MIB));
    await writer.end();
  }, /disk full/);
});
