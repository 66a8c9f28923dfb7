import assert from 'node:assert/strict';
import { AppError } from '../../../src/core/errors.ts';
import { parseEvents } from '../../../src/remote/events/parseEvents.ts';
import { type FuzzedReader, nothingToClose } from '../reader.ts';

const SAMPLE = [
  'event: state\nid: 1\ndata: {"state":"running"}\n\n',
  ': comment\nevent: log\nid: 2\ndata: {"stream":"stdout","text":"größe"}\n\n',
  'event:flow\r\ndata:{"type":"node",\r\ndata: "run": 1}\r\n\r\n',
  'retry: 10\n\nevent: end\nid: 3\ndata: {"state":"succeeded","exit_code":0}\n\n',
].join('');

async function parse(...chunks: readonly Buffer[]): Promise<unknown> {
  async function* source(): AsyncGenerator<Buffer> {
    yield* chunks;
  }
  try {
    return await Array.fromAsync(parseEvents(source()));
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** Server-sent events: wherever the stream is cut, the same events come out, and they can be passed on as JSON. */
export const eventStreams: FuzzedReader = {
  name: 'events',
  samples: () => Promise.resolve([Buffer.from(SAMPLE)]),
  words: ['event:', 'data:', 'id:', 'retry:', '\n\n', '\r', '[[[[[[[[', '{"a":', '\xef\xbb\xbf', '\xe2\x80\xa8', '\0'],
  open: () =>
    Promise.resolve({
      read: async (input) => {
        const whole = await parse(input);
        JSON.stringify(whole);
        const middle = Math.floor(input.length / 2);
        assert.deepEqual(await parse(input.subarray(0, middle), input.subarray(middle)), whole);
      },
      [Symbol.asyncDispose]: nothingToClose,
    }),
};
