// A chat that survives an outage of the service: failed requests are retried, and then a fallback answers.
import { type ChatMessage, Flow, Node, recordedModel } from 'farwharf/agents';

interface Chat {
  questions: string[];
  messages: ChatMessage[];
}

// Recorded replies, so that the first run needs no key. For a real model, replace them with: new LLMClient()
const model = recordedModel({
  'What is a wharf?': 'A wharf is a level place at the edge of the water where ships load and unload.',
  'And a far one?': 'A far wharf is the same place, on another shore: you send your goods there and wait for news.',
});

/** Takes the next question, or ends the chat. */
class NextQuestion extends Node<Chat> {
  override post(shared: Chat) {
    const question = shared.questions.shift();
    if (question === undefined) return 'finished';
    shared.messages.push({ role: 'user', content: question });
    return 'asked';
  }
}

/** Answers the last question. */
class Answer extends Node<Chat, ChatMessage[], string> {
  override prep(shared: Chat): ChatMessage[] {
    return shared.messages;
  }
  override exec(messages: ChatMessage[]): Promise<string> {
    return model.chatComplete(messages);
  }
  override execFallback(): string {
    return 'I cannot reach my model just now. Please ask me again later.';
  }
  override post(shared: Chat, _messages: ChatMessage[], answer: string): void {
    shared.messages.push({ role: 'assistant', content: answer });
    console.log(answer);
  }
}

const next = new NextQuestion();
const answer = new Answer({ maxRetries: 3, wait: 1 });

export const chat = new Flow<Chat>({ start: next, name: 'Chat' })
  .connect(next, answer, 'asked')
  .connect(answer, next)
  .connect(next, null, 'finished');

await chat.run({ questions: ['What is a wharf?', 'And a far one?'], messages: [] });
