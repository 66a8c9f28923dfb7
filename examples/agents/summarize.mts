// Map and reduce over files: each file is summarized on its own, several at a time, and one last call joins the summaries.
// The run is recorded, and the second run answers from the recording without calling the model at all.
import { readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Flow, Node, ParallelBatchNode, Recording } from 'farwharf/agents';
import { print } from './print.mts';
import { exampleModel } from './recordedModel.mts';

interface Summary {
  readonly folder: string;
  parts: string[];
  whole: string;
}
interface TextFile {
  readonly name: string;
  readonly text: string;
}

const model = exampleModel('summarize');
let calls = 0;
const ask = (prompt: string): Promise<string> => {
  calls += 1;
  return model.ask(prompt, { retries: 0 }); // the node tries again
};

class SummarizeFiles extends ParallelBatchNode<Summary, TextFile, string> {
  override async prep({ folder }: Summary): Promise<TextFile[]> {
    const names = (await readdir(folder)).sort();
    return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
  }
  override async exec({ name, text }: TextFile): Promise<string> {
    return `${name}: ${await ask(`Summarize in one sentence:\n\n${text}`)}`;
  }
  override post(shared: Summary, _files: readonly TextFile[], parts: string[]): void {
    shared.parts = parts;
  }
}

class Join extends Node<Summary, string[], string> {
  override prep({ parts }: Summary): string[] {
    return parts;
  }
  override exec(parts: string[]): Promise<string> {
    return ask(`What do these have in common?\n\n${parts.join('\n')}`);
  }
  override post(shared: Summary, _parts: string[], whole: string): void {
    shared.whole = whole;
  }
}

const [map, reduce] = [new SummarizeFiles({ concurrency: 2, maxRetries: 3, wait: 0.05 }), new Join({ maxRetries: 3 })];
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
