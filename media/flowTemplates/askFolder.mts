// Answers a question from the files in a folder, and cites its sources.
import { Flow, LLMClient, Node, RAGNode, type RetrievedChunk } from 'farwharf/agents';

interface Question {
  query: string;
  rag_chunks: readonly RetrievedChunk[];
  answer: string;
}

const model = new LLMClient();

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
    process.stdout.write(`${answer}\n`);
  }
}

const search = new RAGNode<Question>({ sources: import.meta.dirname, topK: 5 });
const answer = new Answer({ maxRetries: 3, wait: 1 });

export const askFolder = new Flow<Question>({ start: search }).connect(search, answer).connect(answer, null);

await askFolder.run({ query: 'What does this project do?', rag_chunks: [], answer: '' });
