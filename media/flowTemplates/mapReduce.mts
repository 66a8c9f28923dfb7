// Map and reduce: summarizes many texts in parallel, then combines the summaries.
import { Flow, Node, ParallelBatchNode, recordedModel } from 'farwharf/agents';

interface Summaries {
  reviews: string[];
  summaries: string[];
  overview: string;
}

// Recorded replies, so that the first run needs no key. For a real model, replace them with: new LLMClient()
const model = recordedModel({
  'Write a short overview':
    'Guests praise the harbour view and the breakfast; the stairs and the noise are the complaints.',
  'view of the harbour': 'Loved the view.',
  'third floor': 'Disliked the stairs.',
  'ferry horn': 'Slept badly because of the noise, but liked the breakfast.',
});

/** Summarizes each review, several at a time. */
class Summarize extends ParallelBatchNode<Summaries, string, string> {
  override prep({ reviews }: Summaries): string[] {
    return reviews;
  }
  override exec(review: string): Promise<string> {
    return model.ask(`Summarize in one sentence:\n${review}`);
  }
  override execFallback(review: string): string {
    return `Could not be summarized: ${review.slice(0, 100)}`;
  }
  override post(shared: Summaries, _reviews: string[], summaries: string[]) {
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
    return model.ask(`Write a short overview of these reviews:\n${summaries.join('\n')}`);
  }
  override post(shared: Summaries, _summaries: string[], overview: string): void {
    shared.overview = overview;
    console.log(overview);
  }
}

const summarize = new Summarize({ maxRetries: 3, wait: 1, concurrency: 4 });
const overview = new Overview({ maxRetries: 3, wait: 1 });

export const mapReduce = new Flow<Summaries>({ start: summarize, name: 'MapReduce' })
  .connect(summarize, overview, 'summarized')
  .connect(summarize, null, 'empty')
  .connect(overview, null);

const reviews = [
  'The room had a wonderful view of the harbour. We would come again.',
  'Our room was on the third floor, and there is no lift. Not for people with luggage.',
  'A ferry horn woke us at five every morning. The breakfast made up for it.',
];
await mapReduce.run({ reviews, summaries: [], overview: '' });
