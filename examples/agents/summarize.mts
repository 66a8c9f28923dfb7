// Map and reduce over files: each file is summarized on its own, several at a time, and one last call joins the summaries.
// The run is recorded, and the second run answers from the recording without calling the model at all.
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { batchNode, Flow, node, Recording } from 'farwharf/agents';
import { print } from './print.mts';
import { exampleModel } from './recordedModel.mts';

interface Summary {
  readonly folder: string;
  parts: string[];
  whole: string;
}

const model = exampleModel('summarize');
let calls = 0;
const ask = (prompt: string): Promise<string> => {
  calls += 1;
  return model.ask(prompt, { retries: 0 }); // the node tries again
};

const map = batchNode({
  name: 'SummarizeFiles',
  concurrency: 2,
  maxRetries: 3,
  wait: 0.05,
  async prep({ folder }: Summary) {
    const names = (await readdir(folder)).sort();
    return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
  },
  exec: async ({ name, text }) => `${name}: ${await ask(`Summarize in one sentence:\n\n${text}`)}`,
  post: (shared, _files, parts) => void (shared.parts = parts),
});
const reduce = node({
  name: 'Join',
  maxRetries: 3,
  prep: ({ parts }: Summary) => parts,
  exec: (parts) => ask(`What do these have in common?\n\n${parts.join('\n')}`),
  post: (shared, _parts, whole) => void (shared.whole = whole),
});
const flow = new Flow<Summary>({ start: map }).connect(map, reduce).connect(reduce, null);
const fresh = (): Summary => ({ folder: join(import.meta.dirname, 'library'), parts: [], whole: '' });

const path = join(tmpdir(), `farwharf-summarize-${process.pid}.jsonl`);
const record = await Recording.open(path);
const shared = fresh();
await flow.run(shared, { record });
await record.save();
print(`${shared.parts.join('\n')}\n\n${shared.whole}\n\nfirst run: ${calls} calls of the model`);

calls = 0;
const again = fresh();
await flow.run(again, { replay: await Recording.open(path, { whenMissing: 'fail' }) });
print(`replayed:  ${calls} calls of the model, ${again.whole === shared.whole ? 'the same result' : 'ANOTHER RESULT'}`);
await rm(path);
