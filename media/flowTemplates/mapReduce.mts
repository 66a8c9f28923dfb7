// Map and reduce: summarizes many files in parallel, then combines the summaries.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Flow, LLMClient, Node, ParallelBatchNode } from 'farwharf/agents';

interface Summaries {
  folder: string;
  summaries: string[];
  overview: string;
}

const model = new LLMClient();

/** Summarizes each file, several at a time. */
class SummarizeFiles extends ParallelBatchNode<Summaries, string, string> {
  override prep({ folder }: Summaries): string[] {
    return globSync('**/*.md', { cwd: folder, exclude: ['node_modules/**'] }).map((file) => join(folder, file));
  }
  override async exec(file: string): Promise<string> {
    return `${file}: ${await model.ask(`Summarize in one sentence:\n${readFileSync(file, 'utf8').slice(0, 20_000)}`)}`;
  }
  override execFallback(file: string): string {
    return `${file}: could not be summarized`;
  }
  override post(shared: Summaries, _files: string[], summaries: string[]) {
    shared.summaries = summaries;
    return summaries.length === 0 ? 'empty' : 'summarized';
  }
}

/** Writes one overview of all summaries. */
class Overview extends Node<Summaries, string[], string> {
  override prep({ summaries }: Summaries): string[] {
    return summaries;
  }
  override exec(summaries: string[]): Promise<string> {
    return model.ask(`Write a short overview of these files:\n${summaries.join('\n')}`);
  }
  override post(shared: Summaries, _summaries: string[], overview: string): void {
    shared.overview = overview;
    process.stdout.write(`${overview}\n`);
  }
}

const summarizeFiles = new SummarizeFiles({ maxRetries: 3, wait: 1, concurrency: 4 });
const overview = new Overview({ maxRetries: 3, wait: 1 });

export const summarize = new Flow<Summaries>({ start: summarizeFiles })
  .connect(summarizeFiles, overview, 'summarized')
  .connect(summarizeFiles, null, 'empty')
  .connect(overview, null);

await summarize.run({ folder: import.meta.dirname, summaries: [], overview: '' });
