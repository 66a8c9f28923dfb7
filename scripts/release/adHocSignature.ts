// macOS starts no program without a signature. This one is the least that it accepts: digests of the program's pages, signed by nobody, as
// linkers write it (Apple's `cs_blobs.h` and `loader.h` in XNU).
import { createHash } from 'node:crypto';

const MACH_O_64 = 0xfe_ed_fa_cf;
const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;
const HEADER_BYTES = 32;
const COMMAND_BYTES = 16; // of LC_CODE_SIGNATURE
const PAGE_BITS = 12;
const PAGE_BYTES = 1 << PAGE_BITS;
const SEGMENT_ALIGNMENT = 0x40_00;
const EMBEDDED_SIGNATURE = 0xfa_de_0c_c0;
const CODE_DIRECTORY = 0xfa_de_0c_02;
const DIRECTORY_VERSION = 0x2_04_00;
const AD_HOC_BY_LINKER = 0x2_00_02;
const DIRECTORY_BYTES = 88;
const SHA256 = { bytes: 32, type: 2 };
const MAIN_BINARY = 1n;

/**
 * Returns a signed copy of a 64-bit Mach-O program that has no signature.
 *
 * @param name of the program in its signature.
 * @throws Error if it is no such program, or has no room for the load command.
 */
export function signAdHoc(program: Uint8Array, name: string): Buffer {
  const codeBytes = alignUp(program.length, 16);
  const identifier = Buffer.from(`${name}\0`);
  const pages = Math.ceil(codeBytes / PAGE_BYTES);
  const directoryBytes = DIRECTORY_BYTES + identifier.length + pages * SHA256.bytes;
  const signatureBytes = 20 + directoryBytes;
  const signed = Buffer.alloc(codeBytes + signatureBytes);
  signed.set(program);
  const text = addCommand(signed, codeBytes, signatureBytes);

  const signature = signed.subarray(codeBytes);
  for (const [index, word] of [EMBEDDED_SIGNATURE, signatureBytes, 1, 0, 20].entries())
    signature.writeUInt32BE(word, 4 * index);
  const directory = signature.subarray(20);
  const digestsAt = DIRECTORY_BYTES + identifier.length;
  const words = [
    CODE_DIRECTORY,
    directoryBytes,
    DIRECTORY_VERSION,
    AD_HOC_BY_LINKER,
    digestsAt,
    DIRECTORY_BYTES,
    0,
    pages,
    codeBytes,
  ];
  for (const [index, word] of words.entries()) directory.writeUInt32BE(word, 4 * index);
  directory.set([SHA256.bytes, SHA256.type, 0, PAGE_BITS], 36);
  directory.writeBigUInt64BE(text.offset, 64);
  directory.writeBigUInt64BE(text.bytes, 72);
  directory.writeBigUInt64BE(MAIN_BINARY, 80);
  directory.set(identifier, DIRECTORY_BYTES);
  for (let page = 0; page < pages; page += 1) {
    const bytes = signed.subarray(page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, codeBytes));
    directory.set(createHash('sha256').update(bytes).digest(), digestsAt + page * SHA256.bytes);
  }
  return signed;
}

/** Adds the load command of the signature and extends the last segment over it; returns where the segment of the code lies. */
function addCommand(program: Buffer, at: number, bytes: number): { readonly offset: bigint; readonly bytes: bigint } {
  if (program.readUInt32LE(0) !== MACH_O_64) throw new Error('The program is not a 64-bit Mach-O file.');
  const [count, size] = [program.readUInt32LE(16), program.readUInt32LE(20)];
  const end = HEADER_BYTES + size;
  let text: { readonly offset: bigint; readonly bytes: bigint } | undefined;
  let command = HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    const type = program.readUInt32LE(command);
    if (type === CODE_SIGNATURE) throw new Error('The program has a signature.');
    if (type === SEGMENT_64) {
      const name = program.toString('latin1', command + 8, command + 24).replace(/\0.*$/s, '');
      const [offset, fileBytes] = [program.readBigUInt64LE(command + 40), program.readBigUInt64LE(command + 48)];
      if (name === '__TEXT') text = { offset, bytes: fileBytes };
      if (name === '__LINKEDIT') {
        const length = BigInt(at + bytes) - offset;
        program.writeBigUInt64LE(length, command + 48);
        program.writeBigUInt64LE(BigInt(alignUp(Number(length), SEGMENT_ALIGNMENT)), command + 32);
      }
    }
    command += program.readUInt32LE(command + 4);
  }
  if (text === undefined) throw new Error('The program has no segment of code.');
  if (program.subarray(end, end + COMMAND_BYTES).some((byte) => byte !== 0))
    throw new Error('The program has no room for the load command of a signature.');
  for (const [index, word] of [CODE_SIGNATURE, COMMAND_BYTES, at, bytes].entries())
    program.writeUInt32LE(word, end + 4 * index);
  program.writeUInt32LE(count + 1, 16);
  program.writeUInt32LE(size + COMMAND_BYTES, 20);
  return text;
}

function alignUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}
