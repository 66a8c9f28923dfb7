import { freeMemory } from '../../core/files/ownMemory.ts';
import {
  MAX_ASKED_NAMES,
  MAX_BATCH_BYTES,
  MAX_BATCH_PIECES,
  NAME_BYTES,
  namesIn,
  PIECE_HEADER_BYTES,
} from '../../remote/protocol/contents.ts';
import type { ContentStore } from '../contents/contentStore.ts';
import type { AppContext } from './access/appEnv.ts';
import { refusal } from './access/httpRefusal.ts';
import { requireOpenForSubmissions, type SubmissionGate } from './healthRoutes.ts';
import { readRequestBody } from './access/readBody.ts';
import type { RouteHandlers } from './apiRoutes.ts';

export interface ContentOptions extends SubmissionGate {
  readonly contents: ContentStore;
}

/** Says which pieces of a submission the account lacks, and receives them. */
export function contentHandlers(
  options: ContentOptions,
): Pick<RouteHandlers, 'lackingPieces' | 'lackingLists' | 'addPieces'> {
  const { contents, gauge } = options;
  const sendLacking = async (context: AppContext, lacking: ContentStore['lacking']): Promise<Response> => {
    gauge.take(context, 'bodies');
    const names = namesIn(await readRequestBody(context.env.incoming, MAX_ASKED_NAMES * NAME_BYTES));
    if (names === undefined) throw refusal(400, 'The body must be SHA-256 hashes, 32 bytes each.');
    const bits = Buffer.alloc(Math.ceil(names.length / 8));
    for (const [index, isLacking] of (await lacking(context.var.account.id, names)).entries()) {
      if (isLacking) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
    }
    return context.body(new Uint8Array(bits), 200, { 'content-type': 'application/octet-stream' });
  };
  return {
    lackingPieces: (context) => sendLacking(context, (account, names) => contents.lacking(account, names)),
    lackingLists: (context) => sendLacking(context, (account, names) => contents.lackingLists(account, names)),
    addPieces: async (context) => {
      await requireOpenForSubmissions(context, options);
      gauge.take(context, 'uploads');
      const { account } = context.var;
      const body = await readRequestBody(context.env.incoming, MAX_BATCH_BYTES);
      await contents.add(account.id, piecesIn(body), gauge.limitsOf(account).upload_bytes);
      freeMemory(body);
      return context.body(null, 200);
    },
  };
}

/** @throws HTTPException 400 for a body that ends inside a piece, 413 for too many pieces. */
function* piecesIn(body: Buffer): Generator<{ readonly name: Buffer; readonly frame: Buffer }, void> {
  let count = 0;
  for (let start = 0; start < body.length; ) {
    const begin = start + PIECE_HEADER_BYTES;
    const end = begin > body.length ? undefined : begin + body.readUInt32LE(start + NAME_BYTES);
    if (end === undefined || end > body.length) throw refusal(400, 'The body ends inside a piece.');
    count += 1;
    if (count > MAX_BATCH_PIECES) {
      throw refusal(413, `The body has more than ${MAX_BATCH_PIECES} pieces, the limit of one request.`);
    }
    yield { name: body.subarray(start, start + NAME_BYTES), frame: body.subarray(begin, end) };
    start = end;
  }
}
