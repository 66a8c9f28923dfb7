// Answers a question from the files in a folder, and cites its sources.
import { Flow, Node, RAGNode, recordedModel, type RetrievedChunk } from 'farwharf/agents';

interface Question {
  query: string;
  rag_chunks: readonly RetrievedChunk[];
  answer: string;
}

// A stand-in that needs no key. For a real model, replace it with: new LLMClient()
const model = recordedModel({
  'Question:': (prompt) =>
    `The best match is in ${/\[.+:\d+\]/.exec(prompt)?.[0] ?? 'no file'}. A real model would answer here.`,
});

/** Answers from what was found, citing file and line. */
class Answer extends Node<Question, string, string> {
  override prep({ query, rag_chunks: chunks }: Question): string {
    const places = chunks.map(({ source, startLine, text }) => `[${source}:${startLine}]\n${text}`);
    return `Answer from these texts alone, and cite [file:line].\n\n${places.join('\n\n')}\n\nQuestion: ${query}`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Question, _prompt: string, answer: string): void {
    shared.answer = answer;
    console.log(answer);
  }
}

const search = new RAGNode<Question>({ sources: '.', topK: 5 });
const answer = new Answer({ maxRetries: 3, wait: 1 });

export const askFolder = new Flow<Question>({ start: search, name: 'AskFolder' })
  .connect(search, answer)
  .connect(answer, null);

await askFolder.run({ query: 'What does this project do?', rag_chunks: [], answer: '' });
