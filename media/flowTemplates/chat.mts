// A chat that survives an outage of the service: failed requests are retried, and then a fallback answers.
import { type ChatMessage, Flow, LLMClient, Node } from 'farwharf/agents';

interface Chat {
  questions: string[];
  messages: ChatMessage[];
}

const model = new LLMClient();

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
    process.stdout.write(`${answer}\n`);
  }
}

const next = new NextQuestion();
const answer = new Answer({ maxRetries: 3, wait: 1 });

export const chat = new Flow<Chat>({ start: next })
  .connect(next, answer, 'asked')
  .connect(answer, next)
  .connect(next, null, 'finished');

await chat.run({ questions: ['What is a wharf?', 'And a far one?'], messages: [] });
