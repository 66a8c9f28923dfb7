// Question answering over this repository: the parts of the source that fit the question go to the model, numbered, and the
// numbers in its answer become files and lines.
import { relative, resolve } from 'node:path';
import { Flow, Node, RAGNode, type RetrievedChunk } from 'farwharf/agents';
import { print } from './print.mts';
import { exampleModel } from './recordedModel.mts';

interface Question {
  readonly query: string;
  rag_chunks: RetrievedChunk[];
}

const model = exampleModel('askRepository');
const root = resolve(import.meta.dirname, '../..');

class Answer extends Node<Question, string, string> {
  override prep({ query, rag_chunks: chunks }: Question): string {
    const parts = chunks.map(({ text }, index) => `[${index + 1}]\n${text}`);
    return `Answer from these parts of a repository and cite them as [n].\n\n${parts.join('\n\n')}\n\nQuestion: ${query}`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Question, _prompt: string, answer: string): void {
    print(`${answer}\n`);
    const cited = new Set(Array.from(answer.matchAll(/\[(\d+)\]/g), ([, number]) => Number(number)));
    for (const number of cited) {
      const chunk = shared.rag_chunks[number - 1];
      if (chunk === undefined) continue; // the model made it up
      print(`[${number}] ${relative(root, chunk.source)}:${chunk.startLine}-${chunk.endLine}`);
    }
  }
}

const search = new RAGNode<Question>({ sources: [`${root}/src`, `${root}/docs`, `${root}/README.md`] });
const answer = new Answer();
const flow = new Flow<Question>({ start: search }).connect(search, answer).connect(answer, null);
const query = process.argv.slice(2).join(' ') || 'How long does retryDelayMs wait after a Retry-After header?';
await flow.run({ query, rag_chunks: [] });
