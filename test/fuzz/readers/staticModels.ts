import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StaticModel } from '../../../src/retrieval/embedding/static/staticModel.ts';
import { exampleTable, safetensors, tokenizerDefinition, writeStaticModel } from '../../staticModel.ts';
import { allowRefusal, type FuzzedReader, nothingToClose } from '../reader.ts';

const TEXT = 'Ship ships, bread unknown.';

/** The files of static embedding models: the vector of a text is of length 1 or 0. */
export const staticModels: FuzzedReader = {
  name: 'static-models',
  samples: () =>
    Promise.resolve([
      safetensors({ embeddings: exampleTable() }),
      Buffer.from(JSON.stringify(tokenizerDefinition())),
      Buffer.from(JSON.stringify(tokenizerDefinition({ ship: 0 }, { normalizer: { lowercase: false } }))),
    ]),
  words: [
    '"dtype":"F16"',
    '"shape":[',
    '"data_offsets":[',
    '"vocab":{',
    '"##',
    '"mapping":',
    '1e99',
    '-1',
    '__proto__',
  ],
  open: async (scratch) => {
    await writeStaticModel(join(scratch, 'model'));
    return {
      read: async (input) => {
        const isTokenizer = input.toString('latin1', 0, 1) === '{';
        await writeStaticModel(join(scratch, 'model'));
        await writeFile(join(scratch, 'model', isTokenizer ? 'tokenizer.json' : 'model.safetensors'), input);
        await allowRefusal(async () => {
          const model = await StaticModel.open({ model: 'model', folder: scratch });
          const [vector = []] = await model.embed([TEXT], {});
          const length = Math.hypot(...vector);
          assert.ok(length === 0 || Math.abs(length - 1) < 1e-3, String(length));
        });
      },
      [Symbol.asyncDispose]: nothingToClose,
    };
  },
};
