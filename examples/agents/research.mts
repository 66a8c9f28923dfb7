// A research agent: it asks what it still has to know, looks that up (a nested flow: search, then notes), and goes round
// until it knows enough to write.
import { Flow, Node, RAGNode, type RetrievedChunk } from 'farwharf/agents';
import * as z from 'zod';
import { print } from './print.mts';
import { exampleModel } from './recordedModel.mts';

interface Research {
  readonly topic: string;
  readonly notes: string[];
  query: string;
  rag_chunks: RetrievedChunk[];
  report: string;
}

const model = exampleModel('research');
const nextStep = z.object({
  query: z.string().nullable().describe('what to look up next; null when the notes suffice'),
});

class Decide extends Node<Research, string, string | null> {
  override prep({ topic, notes }: Research): string {
    return `Topic: ${topic}\nNotes so far: ${notes.length}\n${notes.join('\n')}\nWhat is still to be looked up?`;
  }
  override async exec(prompt: string): Promise<string | null> {
    return (await model.ask(prompt, { schema: nextStep })).query;
  }
  override post(shared: Research, _prompt: string, query: string | null) {
    if (query === null) return 'enough';
    print(`looking up: ${query}`);
    shared.query = query;
    return 'search';
  }
}

class TakeNotes extends Node<Research, string, string> {
  override prep({ query, rag_chunks: chunks }: Research): string {
    return `Note in one sentence what this says about "${query}":\n\n${chunks.map(({ text }) => text).join('\n\n')}`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Research, _prompt: string, note: string): void {
    const [best] = shared.rag_chunks;
    print(`  noted from ${best?.source.replace(/^.*\//, '')}: ${note}`);
    shared.notes.push(note);
  }
}

class Write extends Node<Research, string, string> {
  override prep({ topic, notes }: Research): string {
    return `Write two sentences on "${topic}" from these notes:\n${notes.join('\n')}`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Research, _prompt: string, report: string): void {
    shared.report = report;
  }
}

const search = new RAGNode<Research>({ sources: `${import.meta.dirname}/library`, topK: 1, maxRetries: 2 });
const takeNotes = new TakeNotes();
const lookUp = new Flow<Research>({ start: search, name: 'LookUp' })
  .connect(search, takeNotes)
  .connect(takeNotes, null);

const [decide, write] = [new Decide(), new Write()];
const research = new Flow<Research>({ start: decide, name: 'Research' })
  .connect(decide, lookUp, 'search')
  .connect(lookUp, decide)
  .connect(decide, write, 'enough')
  .connect(write, null);

const shared: Research = {
  topic: 'How ships find and use a harbour',
  notes: [],
  query: '',
  rag_chunks: [],
  report: '',
};
await research.run(shared, { maxVisits: 30 });
print(`\n${shared.report}`);
