// The compiler is the test here: `npm run check` fails when a line under @ts-expect-error compiles, and when another does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ActionOf,
  type BaseNode,
  BatchFlow,
  BatchNode,
  Flow,
  Node,
  ParallelFlow,
} from '../../../src/agents/index.ts';

interface Question {
  question: string;
}
interface Answer extends Question {
  answer: string;
}

class Route extends Node<Question, string, string> {
  override post(shared: Question) {
    return shared.question === '' ? 'empty' : 'full';
  }
}
class RouteAsync extends Node<Question> {
  override async post(shared: Question) {
    return shared.question === '' ? 'empty' : 'full';
  }
}
class Maybe extends Node<Question> {
  override post(shared: Question) {
    return shared.question === '' ? 'stop' : undefined;
  }
}
class Silent extends Node<Question> {
  override post(): void {}
}
class One extends Node<Question> {
  override post() {
    return 'only' as const;
  }
}
class Wide extends Node<Question> {
  override post(shared: Question): string {
    return shared.question;
  }
}
class NeedsAnswer extends Node<Answer> {
  override prep(shared: Answer): string {
    return shared.answer;
  }
}
class Letters extends BatchNode<Question, string, number> {
  override prep(shared: Question): string[] {
    return shared.question.split('');
  }
  override exec(letter: string): number {
    return letter.charCodeAt(0);
  }
  override post(_shared: Question, letters: readonly string[], codes: number[]) {
    return letters.length === codes.length ? 'same' : 'other';
  }
}

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

test('connect accepts the actions that a node can return and no other', () => {
  const inferred: [
    Same<ActionOf<Route>, 'empty' | 'full'>,
    Same<ActionOf<RouteAsync>, 'empty' | 'full'>,
    Same<ActionOf<Maybe>, 'stop' | 'default'>,
    Same<ActionOf<Silent>, 'default'>,
    Same<ActionOf<One>, 'only'>,
    Same<ActionOf<Letters>, 'same' | 'other'>,
  ] = [true, true, true, true, true, true];
  assert.equal(inferred.length, 6);

  const flow = new Flow<Question>();
  const [route, routeAsync, maybe, silent, one, wide] = [
    new Route(),
    new RouteAsync(),
    new Maybe(),
    new Silent(),
    new One(),
    new Wide(),
  ];
  flow.connect(route, silent, 'empty').connect(route, null, 'full');
  flow
    .connect(routeAsync, silent, 'empty')
    .connect(maybe, null, 'stop')
    .connect(maybe, silent)
    .connect(one, null, 'only');
  flow.connect(silent, wide).connect(wide, null, 'anything').connect(new Letters(), null, 'same');

  const other = new Flow<Question>();
  // @ts-expect-error a typo
  other.connect(route, silent, 'emtpy');
  // @ts-expect-error a typo, with an async post
  other.connect(routeAsync, silent, 'fulll');
  // @ts-expect-error it never returns nothing, so the default edge would be dead
  other.connect(route, silent);
  // @ts-expect-error it returns nothing, so no named edge would ever be taken
  other.connect(silent, null, 'done');
  // @ts-expect-error a single literal
  other.connect(one, null, 'other');
  // @ts-expect-error a batch node
  other.connect(new Letters(), null, 'missing');
  assert.equal(flow.getNextNode(silent), wide);
});

test('connect accepts nodes that can work with the shared state and no other', () => {
  const [silent, needsAnswer] = [new Silent(), new NeedsAnswer()];
  const flow = new Flow<Answer>().connect(silent, needsAnswer).connect(needsAnswer, null);
  const nested = new Flow<Question>({ start: silent });
  flow.connect(nested, needsAnswer);

  const other = new Flow<Question>();
  // @ts-expect-error the shared state has no answer
  other.connect(silent, needsAnswer);
  // @ts-expect-error the same for a source
  other.connect(needsAnswer, silent);
  // @ts-expect-error the same for a start
  other.start = needsAnswer;
  // @ts-expect-error the same for a nested flow
  other.connect(flow, silent);
  assert.equal(flow.getNextNode(needsAnswer), null);
});

test('a flow takes its shared type from its start, and checks what run is given', async () => {
  const start = new NeedsAnswer();
  const flow = new Flow({ start }).connect(start, null);
  await flow.run({ question: 'q', answer: 'a' });
  // @ts-expect-error the answer is missing
  await flow.run({ question: 'q' });
});

test('a flow that does not say what it shares takes any node', async () => {
  const [route, silent] = [new Route(), new Silent()];
  const flow = new Flow();
  flow.start = route;
  flow.connect(route, silent, 'empty').connect(silent, null);
  await flow.run({ question: '' });
});

// People write such types, so they must work, although our own code has none.
type Anything = ReturnType<typeof JSON.parse>;

test('typed nodes fit lists and generics of any node, and keep the check of their actions', () => {
  const [route, needsAnswer] = [new Route(), new NeedsAnswer()];
  const anyNodes: BaseNode<Anything>[] = [route, needsAnswer];
  const nodes: Node[] = [route, needsAnswer];
  const flow: Flow<Anything> = new Flow({ start: needsAnswer });
  flow.connect(needsAnswer, null);
  const first = <T extends Node<Anything, Anything, Anything>>(node: T): T => node;
  new Flow<Question>().connect(first(route), null, 'empty');
  // @ts-expect-error Route never returns it
  new Flow<Question>().connect(first(route), null, 'missing');
  // @ts-expect-error Route never returns it
  flow.connect(route, null, 'missing');
  assert.equal(anyNodes.length, nodes.length);
});

test('a node in place of the options of a flow is an error', () => {
  // @ts-expect-error the start is an option
  assert.throws(() => new Flow<Question>(new Route()), /takes its first node as an option/);
});

test('a flow of items and its nodes are checked against the state of an item, and post against the shared state', () => {
  class Item extends Node<{ item: number }> {
    override post(): void {}
  }
  class Numbers extends BatchFlow<Question, number> {
    override prep({ question }: Question): number[] {
      return [question.length];
    }
    override post(shared: Question, items: readonly number[], states: (Question & { item: number })[]) {
      return states[0]?.item === items[0] && states[0]?.question === shared.question ? 'same' : 'other';
    }
  }
  const numbers = new Numbers({ start: new Item() });
  numbers.connect(new Silent(), new Item()).connect(new Item(), null);
  // @ts-expect-error an item has no answer
  numbers.connect(new NeedsAnswer(), null);
  const flow = new Flow<Question>({ start: numbers }).connect(numbers, null, 'same');
  // @ts-expect-error a typo
  flow.connect(numbers, null, 'smae');
  // @ts-expect-error the node needs an item, which the shared state does not have
  flow.connect(new Item(), null);
  assert.equal(flow.start, numbers);
});

test('branches are checked by name and by the shared state', () => {
  class Gather extends ParallelFlow<Question, 'a' | 'b'> {
    override merge(shared: Question, { a, b }: Readonly<Record<'a' | 'b', Question>>) {
      shared.question = a.question + b.question;
      return 'joined' as const;
    }
  }
  const gather = new Gather({ branches: { a: new Silent(), b: new Flow<Question>({ start: new Silent() }) } });
  // @ts-expect-error a branch is missing
  assert.equal(new Gather({ branches: { a: new Silent() } }).name, 'Gather');
  // @ts-expect-error the shared state has no answer
  assert.equal(new Gather({ branches: { a: new NeedsAnswer(), b: new Silent() } }).name, 'Gather');
  const flow = new Flow<Question>({ start: gather }).connect(gather, null, 'joined');
  // @ts-expect-error it never returns nothing
  flow.connect(gather, null);
  assert.equal(flow.start, gather);
});
