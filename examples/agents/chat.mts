// A chat that copes with an unreliable model service: failed requests are sent again, and if none succeeds the flow continues with a
// fallback.
import { type ChatMessage, Flow, Node } from 'farwharf/agents';
import { print } from './print.mts';
import { exampleModel } from './recordedModel.mts';

interface Chat {
  readonly questions: string[];
  readonly messages: ChatMessage[];
}

const model = exampleModel('chat');

class NextQuestion extends Node<Chat> {
  override post(shared: Chat) {
    const question = shared.questions.shift();
    if (question === undefined) return 'finished';
    shared.messages.push({ role: 'user', content: question });
    print(`you:   ${question}`);
    return 'asked';
  }
}

class Answer extends Node<Chat, ChatMessage[], string> {
  override prep(shared: Chat): ChatMessage[] {
    return shared.messages;
  }
  override exec(messages: ChatMessage[]): Promise<string> {
    return model.chatComplete(messages, { retries: 0 }); // the node tries again
  }
  override execFallback(): string {
    return 'I cannot reach my model just now. Please ask me again later.';
  }
  override post(shared: Chat, _messages: ChatMessage[], answer: string): void {
    shared.messages.push({ role: 'assistant', content: answer });
    print(`model: ${answer}`);
  }
}

const [next, answer] = [new NextQuestion(), new Answer({ maxRetries: 3, wait: 0.05 })];
const flow = new Flow<Chat>({ start: next })
  .connect(next, answer, 'asked')
  .connect(answer, next)
  .connect(next, null, 'finished');

const asked = process.argv.slice(2);
const questions = asked.length > 0 ? asked : ['What is a wharf?', 'And a far one?', 'Will it rain tomorrow?'];
await flow.run(
  { questions, messages: [] },
  {
    onEvent(event) {
      if (event.type === 'retry') print(`       (attempt ${event.attempt} failed, trying again)`);
      if (event.type === 'fallback') print('       (all attempts failed, using the fallback)');
    },
  },
);
