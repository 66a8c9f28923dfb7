// An agent that decides when it has searched enough, and then writes its report.
import { Flow, Node, RAGNode, recordedModel, type RetrievedChunk } from 'farwharf/agents';

interface Research {
  topic: string;
  query: string;
  notes: string[];
  rag_chunks: readonly RetrievedChunk[];
  report: string;
}

// Recorded replies, so that the first run needs no key. For a real model, replace them with: new LLMClient()
const model = recordedModel({
  'What do these texts say': [
    'The folder has a flow that researches a topic.',
    'Its steps are to decide, look up and write.',
  ],
  'one more search query': ['purpose of this folder', 'steps of the flow', 'ENOUGH'],
  'Write two paragraphs':
    'This folder has a research flow.\n\nIt decides what to look up, takes notes, and writes a report.',
});

/** Chooses the next query, or says that there is enough. */
class Decide extends Node<Research, string, string> {
  override prep({ topic, notes }: Research): string {
    return `Topic: ${topic}\nNotes so far:\n${notes.join('\n')}\nAnswer with one more search query, or with ENOUGH.`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Research, _prompt: string, decision: string) {
    if (decision.includes('ENOUGH') || shared.notes.length >= 5) return 'enough';
    shared.query = decision;
    return 'search';
  }
}

/** Writes down what the search has found. */
class TakeNotes extends Node<Research, string, string> {
  override prep({ query, rag_chunks: chunks }: Research): string {
    return `What do these texts say on "${query}"? One sentence.\n${chunks.map(({ text }) => text).join('\n---\n')}`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Research, _prompt: string, note: string): void {
    shared.notes.push(note);
  }
}

/** Writes the report from the notes. */
class Write extends Node<Research, string, string> {
  override prep({ topic, notes }: Research): string {
    return `Write two paragraphs on "${topic}" from these notes:\n${notes.join('\n')}`;
  }
  override exec(prompt: string): Promise<string> {
    return model.ask(prompt);
  }
  override post(shared: Research, _prompt: string, report: string): void {
    shared.report = report;
    console.log(report);
  }
}

const search = new RAGNode<Research>({ sources: '.', topK: 3 });
const takeNotes = new TakeNotes();
export const lookUp = new Flow<Research>({ start: search, name: 'LookUp' })
  .connect(search, takeNotes)
  .connect(takeNotes, null);

const decide = new Decide({ maxRetries: 3, wait: 1 });
const write = new Write({ maxRetries: 3, wait: 1 });
export const research = new Flow<Research>({ start: decide, name: 'Research' })
  .connect(decide, lookUp, 'search')
  .connect(lookUp, decide)
  .connect(decide, write, 'enough')
  .connect(write, null);

await research.run(
  { topic: 'What this folder is about', query: '', notes: [], rag_chunks: [], report: '' },
  { maxVisits: 100 },
);
