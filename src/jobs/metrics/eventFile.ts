import { readEventRecords } from './eventRecords.ts';
import type { MetricTable } from './metricTable.ts';
import { type ProtobufField, readFields, varintOf } from './protobuf.ts';

// A scalar takes about 100 bytes; larger records are images, histograms and graphs.
const MAX_RECORD_BYTES = 64 * 1024;
const DT_FLOAT = 1;
const DT_DOUBLE = 2;

/**
 * Adds the scalars of a TensorBoard event file, as TensorFlow 1 and 2, PyTorch and tensorboardX write them. Fields are those of event.proto,
 * summary.proto and tensor.proto of TensorFlow. What is damaged is left out.
 *
 * @param prefix of names.
 */
export async function readEventFile(
  chunks: AsyncIterable<Uint8Array>,
  table: MetricTable,
  prefix: string,
): Promise<void> {
  for await (const record of readEventRecords(chunks, MAX_RECORD_BYTES)) {
    let step = 0;
    const summaries: Uint8Array[] = [];
    for (const field of readFields(record)) {
      if (field.number === 2 && field.type === 'varint') step = varintOf(field);
      if (field.number === 5 && field.type === 'bytes') summaries.push(field.bytes);
    }
    for (const summary of summaries) {
      for (const field of readFields(summary)) {
        if (field.number === 1 && field.type === 'bytes') addValue(field.bytes, step, table, prefix);
      }
    }
  }
}

/** `Summary.Value`: a tag, and a number or a tensor with one. */
function addValue(message: Uint8Array, step: number, table: MetricTable, prefix: string): void {
  let tag = '';
  let value: number | undefined;
  for (const field of readFields(message)) {
    if (field.number === 1 && field.type === 'bytes') tag = Buffer.from(field.bytes).toString();
    if (field.number === 2 && field.type === 'fixed32') value = floatOf(field.bytes);
    if (field.number === 8 && field.type === 'bytes') value = scalarOf([...readFields(field.bytes)]);
  }
  if (tag !== '' && value !== undefined) table.add(prefix + tag, step, value);
}

/** The number in a `TensorProto` with exactly one. */
function scalarOf(fields: readonly ProtobufField[]): number | undefined {
  const type = fields.find((field) => field.number === 1 && field.type === 'varint');
  const dtype = type === undefined ? undefined : varintOf(type);
  // `tensor_content`, or a packed or single `float_val` or `double_val`.
  const content = fields.find(({ number }) => number === 4 || number === 5 || number === 6)?.bytes;
  if (dtype === DT_FLOAT && content?.length === 4) return floatOf(content);
  if (dtype === DT_DOUBLE && content?.length === 8) return view(content).getFloat64(0, true);
  return undefined;
}

function floatOf(bytes: Uint8Array): number {
  return view(bytes).getFloat32(0, true);
}

function view({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
